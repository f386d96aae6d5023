// A host of bots in Node.js: referees games with GameService and seats Aleator's bots in them.
//
// Runs several games at once. All bots sit in one call of Play, and each is told only what its seat
// may see. Where the server is away for a while, calls are made again; where the call of Play breaks,
// another one is opened and the bots go on from where their games stand.
//
//   npm install && node bot_host.js --game riviera --players 3 --games 5 --level 5 --level 8
//
// Reads the .proto files of this repository. Keeps the games in memory.

import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";

const PATIENCE = 20; // how often in a row the server may be away
const PROTO = fileURLToPath(new URL("../../proto", import.meta.url));
const RETRIES = {
  methodConfig: [{
    name: [{ service: "aleator.v1.GameService" }],
    retryPolicy: {
      maxAttempts: 5,
      initialBackoff: "0.1s",
      maxBackoff: "2s",
      backoffMultiplier: 2,
      retryableStatusCodes: ["UNAVAILABLE", "RESOURCE_EXHAUSTED"],
    },
  }],
};

// Ends the program with one line and an exit code.
function fail(error, code) {
  console.error(error.message);
  process.exit(code);
}

const flags = {
  options: {
    address: { type: "string", default: process.env.ADDRESS ?? "localhost:50051" },
    game: { type: "string", default: "roygbiv" },
    players: { type: "string" },
    games: { type: "string", default: "2" },
    level: { type: "string", multiple: true, default: ["5"] }, // by seat, the last for all others
    clock: { type: "string", default: "60" }, // seconds of a bot for a game
    increment: { type: "string", default: "1" }, // seconds more for each move
  },
};
let asked;
try {
  asked = parseArgs(flags).values;
} catch (error) {
  fail(error, 2);
}
const levelOf = (seat) => Number(asked.level[Math.min(seat, asked.level.length - 1)]);

const definition = loader.loadSync(
  ["aleator/v1/game_service.proto", "aleator/v1/opponent_service.proto"],
  { includeDirs: [PROTO], enums: String, longs: Number, arrays: true, oneofs: true },
);
const { aleator } = grpc.loadPackageDefinition(definition);
const credentials = grpc.credentials.createInsecure();
const options = { "grpc.service_config": JSON.stringify(RETRIES) };
const games = new aleator.v1.GameService(asked.address, credentials, options);
const opponent = new aleator.v1.OpponentService(asked.address, credentials);

// A method of the referee with a deadline, as a function that returns a promise.
function method(name) {
  const call = promisify(games[name].bind(games));
  return (request) => call(request, { deadline: Date.now() + 10_000 });
}
const getGame = method("getGame");
const createGame = method("createGame");
const listMoves = method("listMoves");
const observeState = method("observeState");
const applyMove = method("applyMove");

// A text with seconds as a google.protobuf.Duration.
function duration(seconds) {
  return { seconds: Math.floor(seconds), nanos: Math.round((seconds % 1) * 1e9) };
}

// Makes a call, and again as long as the server is away, such as when it is started anew.
async function patiently(call) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (error.code !== grpc.status.UNAVAILABLE || tries === PATIENCE) throw error;
      console.log(error.message);
      await sleep(1000);
    }
  }
}

// Bots on one call of Play, which is opened again where it breaks.
class Bots {
  constructor() {
    this.timeLeft = new Map();
    this.#open();
  }

  // Shows a bot what its seat sees of a game now, and returns its answer.
  async see(game, seat, state) {
    const gameId = `${game}, seat ${seat}`;
    const isSeated = this.call.seated.has(gameId);
    this.call.seated.add(gameId);
    const timeLeft = this.timeLeft.get(gameId) ?? duration(asked.clock);
    const clock = { timeLeft, increment: duration(asked.increment) };
    const start = { state, seat, clock, strength: { level: levelOf(seat) } };
    const answer = await this.#tell(isSeated ? { gameId, update: { state } } : { gameId, start });
    if (answer.result === "error") {
      // A server that is busy is told again; see google.rpc.RetryInfo for how soon.
      if (answer.error.code !== grpc.status.RESOURCE_EXHAUSTED) throw new Error(answer.error.message);
      if (!isSeated) this.call.seated.delete(gameId);
      await sleep(500);
      return this.see(game, seat, state);
    }
    if (answer.result === "move") this.timeLeft.set(gameId, answer.move.timeLeft);
    return answer;
  }

  leave() {
    this.call.stream.end();
  }

  #open() {
    const call = { stream: opponent.play(), seated: new Set(), sent: 0, waiting: new Map() };
    call.stream.on("data", (answer) => {
      const index = answer.index ?? 0; // fields with their default are left out
      call.waiting.get(index).resolve(answer);
      call.waiting.delete(index);
    });
    call.stream.on("error", (error) => {
      for (const { reject } of call.waiting.values()) reject(error);
      this.#open();
    });
    this.call = call;
  }

  // Sends a request; the answer with its number is that to it.
  #tell(request) {
    const { call } = this;
    return new Promise((resolve, reject) => {
      call.waiting.set(call.sent, { resolve, reject });
      call.sent += 1;
      call.stream.write(request);
    });
  }
}

// Plays a game to its end; returns the shares of the win by seat.
async function referee(bots, name) {
  const players = asked.players && { fields: { players: { numberValue: Number(asked.players) } } };
  let { state, seatsToAct } = await patiently(() => createGame({ game: asked.game, options: players }));
  const { scores } = await patiently(() => listMoves({ state, seat: seatsToAct[0] }));
  const seats = [...scores.keys()];
  for (let made = 0; ; ) {
    const answers = await Promise.all(seats.map((seat) => patiently(async () => {
      const view = await observeState({ state, seat });
      return bots.see(name, seat, view.state);
    })));
    if (seatsToAct.length === 0) {
      const { finished } = answers[0];
      console.log(`${name}: ${finished.scores.join(" : ")} after ${made} moves`);
      return finished.returns;
    }
    const moves = seatsToAct.map((seat) => ({ seat, move: answers[seat].move.analysis.bestMove }));
    ({ state, seatsToAct } = await patiently(() => applyMove({ state, moves })));
    made += moves.length;
  }
}

// Without patience: the server may not be there at all.
await getGame({ game: asked.game }).catch((error) => fail(error, 1));
const bots = new Bots();
const names = Array.from({ length: Number(asked.games) }, (_, index) => `game ${index + 1}`);
const returns = await Promise.all(names.map((name) => referee(bots, name)))
  .catch((error) => fail(error, 1)); // such as that the server knows no such game
returns[0].forEach((_, seat) => {
  const won = returns.reduce((sum, shares) => sum + shares[seat], 0);
  console.log(`seat ${seat}, level ${levelOf(seat)}, won ${won} of ${returns.length}`);
});
bots.leave();
games.close();
opponent.close();
