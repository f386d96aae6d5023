// Asks a server for a game, a move and an error, and prints them as JSON.
// Usage: node client.js HOST:PORT FOLDER_OF_PROTO_FILES

import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";
import { promisify } from "node:util";

const [address, folder] = process.argv.slice(2);
const definition = loader.loadSync(
  ["aleator/v1/game_service.proto", "aleator/v1/opponent_service.proto"],
  { includeDirs: [folder], enums: String, longs: String },
);
const { aleator } = grpc.loadPackageDefinition(definition);
const credentials = grpc.credentials.createInsecure();
const games = new aleator.v1.GameService(address, credentials);
const opponent = new aleator.v1.OpponentService(address, credentials);
const createGame = promisify(games.createGame.bind(games));
const suggestMove = promisify(opponent.suggestMove.bind(opponent));

const { state } = await createGame({ game: "roygbiv", seed: 1 });
const { analysis } = await suggestMove({ state, limits: { simulations: 1000 }, seed: 2 });
const error = await createGame({ game: "chess" }).catch((refusal) => refusal);
// A bot that keeps its seat: it is told of the game twice, and answers twice.
const bot = opponent.play();
const answers = [];
const played = new Promise((resolve, reject) => bot.on("end", resolve).on("error", reject));
bot.on("data", (answer) => answers.push(answer));
const seat = analysis.seat;
bot.write({ gameId: "g", start: { state, seat, limits: { simulations: 10 } } });
bot.write({ gameId: "g", update: { state } });
bot.end();
await played;
console.log(JSON.stringify({
  answered: answers.map((answer) => answer.move.analysis.bestMoveNotation),
  move: analysis.bestMoveNotation,
  stopReason: analysis.statistics.stopReason,
  code: grpc.status[error.code],
  details: error.metadata.get("grpc-status-details-bin")[0].toString("latin1"),
}));
games.close();
opponent.close();
