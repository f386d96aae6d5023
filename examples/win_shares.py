"""Who was winning? Plots each seat's share of the win over a whole game.

Plays a game between two levels, evaluates all its positions in one batch, and draws the picture.
Runs as a script, or cell by cell in an editor or notebook that knows `# %%`. Needs a server, on
$ADDRESS or localhost:50051, and `pip install 'aleator[plots]'`.
"""

# %%
import os

try:
    import matplotlib.pyplot as plt
except ImportError:
    raise SystemExit("needs matplotlib: pip install 'aleator[plots]'") from None

import aleator.client

game = "roygbiv"
levels = [9, 3]  # of seat 0 and seat 1
picture = "win_shares.svg"
try:
    client = aleator.client.connect(os.environ.get("ADDRESS", "localhost:50051"))
    client.get_game(game)
except (aleator.client.CallError, ValueError) as error:  # no server, or no such address
    raise SystemExit(f"{error}") from None

# %% [markdown]
# ## A game
#
# The server is the referee and plays both seats. It looks only at what the seat to act may know,
# though it is sent the complete state.

# %%
created = client.create_game(game, {"players": len(levels)}, seed=1)
state, to_act = created.state, list(created.seats_to_act)
positions = []
while to_act:
    positions.append((state, to_act[0]))
    moves = {
        seat: client.suggest_move(state, seat, level=levels[seat], time=0.2).best_move
        for seat in to_act
    }
    applied = client.apply_move(state, moves)
    state, to_act = applied.state, list(applied.seats_to_act)
print(f"{len(positions)} positions, {applied.events[-1].description}")

# %% [markdown]
# ## What each position was worth
#
# The answers of a batch come as they are found, each with the id of its item.

# %%
items = [
    aleator.client.batch_item(str(ply), state, seat, simulations=2000, max_candidates=1)
    for ply, (state, seat) in enumerate(positions)
]
shares = {}
for answer in client.analyze_batch(items):
    estimate = answer.unwrap().estimate
    if estimate.win_shares:  # a forced move is not searched
        shares[int(answer.id)] = list(estimate.win_shares)
shares[len(positions)] = list(applied.returns)

# %% [markdown]
# ## The picture

# %%
plies = sorted(shares)
figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
axes.stackplot(
    plies,
    *([shares[ply][seat] for ply in plies] for seat in range(len(levels))),
    labels=[f"seat {seat}, level {level}" for seat, level in enumerate(levels)],
    colors=["#3b6ea5", "#e9a03b"],
)
axes.axhline(0.5, color="white", linewidth=0.8)
axes.set(xlabel="moves made", ylabel="share of the win", xlim=(0, len(positions)), ylim=(0, 1))
axes.legend(loc="upper left")
axes.set_title(f"{game}: who was winning?")
figure.savefig(picture)
print(f"wrote {picture}")
client.close()
