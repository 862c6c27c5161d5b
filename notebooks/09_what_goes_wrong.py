# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What goes wrong
#
# Four mistakes that raise no error. Each is made here on purpose, seen failing, and mended. The board is 3 x 3, three in a
# row, so that a whole training takes a second.

# %%
from functools import partial

import numpy as np
from matplotlib import pyplot as plt

from env import Board, Lockstep
from env.observation import planes
from nn import PolicyNet
from nn.losses import entropy, masked_log_softmax, weighted_cross_entropy
from nn.optim import Adam
from rl.agents import PolicyAgent
from rl.agents.random import RandomAgent
from rl.arena import compare
from rl.reinforce import update
from rl.returns import signed_results
from rl.selfplay import LEARNER, play

BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
GAMES = 256  # an update

# %% [markdown]
# ## 1. The reward of the wrong colour
#
# The winner is +1 for black and -1 for white. Whose reward is that? Each move must be credited with the result *of the
# colour that made it*:
#
# $$z_t = \text{winner} \cdot \text{colour}_t$$
#
# Forget the colour, and white learns from black's reward. Here the policy plays half its games with each colour against
# random moves. **What will the mistake do** to its games with black, and with white?

# %%
seats = np.array([[LEARNER, 0], [0, LEARNER]] * (GAMES // 2))  # (E, 2): who has black, who white
with_black = seats[:, 0] == LEARNER
won = {}
for name in ("colour forgotten", "mended"):
    rng = np.random.default_rng(1)
    net = PolicyNet(3, 3, filters=(8, 8), hidden=32, rng=rng)
    optimizer = Adam(net.parameters(), learning_rate=3e-3)
    rates = []
    for _ in range(40):
        decisions = play(
            net, seats, [RandomAgent()], Lockstep(GAMES, 3, 3, 3), temperature=1.0, symmetric=True, rng=rng
        )
        z = decisions.winners.astype(float)  # (T,) black's result ...
        if name == "mended":
            z = signed_results(decisions.winners, decisions.colours)  # ... or the mover's own
        update(
            net, optimizer, decisions, z - z.mean(),
            batch=512, temperature=1.0, entropy_weight=0.05, max_gradient_norm=1.0, rng=rng,
        )
        winners = decisions.game_winners
        rates.append([(winners[with_black] == 1).mean(), (winners[~with_black] == -1).mean()])
    won[name] = np.array(rates)  # (updates, 2)

figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True, layout="constrained")
for ax, (name, rates) in zip(axes, won.items()):
    ax.plot(rates[:, 0], color="0.1", label="with black")
    ax.plot(rates[:, 1], color="0.65", label="with white")
    ax.set(title=name, xlabel="update", ylim=(0, 1))
    ax.grid(alpha=0.3)
axes[0].set_ylabel("games won against random")
axes[1].legend(loc="lower right");

# %%
late = {name: rates[-8:].mean(axis=0) for name, rates in won.items()}
early = won["mended"][:3].mean(axis=0)
print("at first          black {:.0%}, white {:.0%}".format(*early))
for name, rates in late.items():
    print(f"{name:17} black {rates[0]:.0%}, white {rates[1]:.0%}")
assert late["colour forgotten"][1] < early[1] - 0.03  # with white it learnt to lose
assert late["mended"][1] > early[1] + 0.15 and late["mended"][0] > early[0] + 0.15

# %% [markdown]
# One network plays both colours. The half that learns to lose keeps the other half from learning to win.
#
# In this library a sign flips in one file only, `rl/returns.py`, and a test turns it round to see the others
# fail.
#
# ## 2. No entropy
#
# Now the policy plays itself, without and with an entropy bonus. Lesson 05 says why one wants it. **How many different
# games** will there be among the 256 of an update, at the end?

# %%
both = np.full((GAMES, 2), LEARNER)
weights = {"no entropy": 0.0, "mended": 0.1}
uncertainty, different, strength = {}, {}, {}
for name, weight in weights.items():
    rng = np.random.default_rng(1)
    net = PolicyNet(3, 3, filters=(8, 8), hidden=32, rng=rng)
    optimizer = Adam(net.parameters(), learning_rate=3e-3)
    uncertainty[name], different[name] = [], []
    for _ in range(50):
        games = Lockstep(GAMES, 3, 3, 3)
        decisions = play(net, both, [], games, temperature=1.0, symmetric=False, rng=rng)
        z = signed_results(decisions.winners, decisions.colours)
        stats = update(
            net, optimizer, decisions, z - z.mean(),
            batch=512, temperature=1.0, entropy_weight=weight, max_gradient_norm=1.0, rng=rng,
        )
        uncertainty[name].append(stats.entropy)
        different[name].append(len(np.unique(games.cells.reshape(GAMES, 9), axis=0)))
    rng = np.random.default_rng(2)
    result = compare(
        PolicyAgent(net), RandomAgent(), 400,
        new_board=partial(Board, 3, 3, 3), opening_plies=0, rng=rng,
    )
    strength[name] = result.total

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.5), layout="constrained")
for (name, curve), colour in zip(uncertainty.items(), (VERMILION, BLUE)):
    left.plot(curve, color=colour, label=name)
    middle.plot(different[name], color=colour, label=name)
    low, high = strength[name].interval
    rate = strength[name].win_rate
    right.errorbar([name], [rate], [[rate - low], [high - rate]], fmt="o", color=colour, capsize=4)
left.set(xlabel="update", ylabel="entropy of a move (nats)", ylim=(0, None))
middle.set(xlabel="update", ylabel="different final positions of 256", ylim=(0, 260))
right.set(ylabel="won against random (95 %)", ylim=(0, 1), xlim=(-0.6, 1.6))
left.legend(fontsize="small")
for ax in (left, middle, right):
    ax.grid(alpha=0.3)

# %%
for name, tally in strength.items():
    print(f"{name:10} entropy {uncertainty[name][-1]:.2f}, {different[name][-1]} final positions, {tally.win_rate:.0%} won")
assert different["no entropy"][-1] < different["mended"][-1] / 3
assert strength["no entropy"].interval[1] < strength["mended"].interval[0]  # worse, beyond doubt

# %% [markdown]
# Without the bonus both sides agree on a few games in which black always wins, and see nothing else. Against somebody who
# plays otherwise, they know little.
#
# ## 3. No mask in the loss
#
# In play, taken cells are masked: their probability is 0. The loss must use the same mask. If it is forgotten there, the
# loss speaks of another policy than the one that played, and tries to learn what the rules already know.
#
# A game's last cell: eight are taken, one is left, black *must* play it. **What is there to learn?**

# %%
board = Board.from_moves([4, 0, 8, 2, 1, 7, 3, 5], height=3, width=3, win_length=3)
assert board.outcome is None and board.legal_mask().sum() == 1
net = PolicyNet(3, 3, filters=(8, 8), hidden=32, rng=np.random.default_rng(3), dtype=np.float64)
logits, legal = net.predict(planes(board)[None]), board.legal_mask()[None]  # (1, 9), (1, 9)
only = np.flatnonzero(legal[0])  # (1,)
everything = np.ones_like(legal)

_, mended = weighted_cross_entropy(logits, only, np.ones(1), legal)
_, mistaken = weighted_cross_entropy(logits, only, np.ones(1), everything)
assert np.all(mended == 0)  # nothing: no choice, no slope
print(f"length of the slope with the mask {np.linalg.norm(mended):.2f}, without {np.linalg.norm(mistaken):.2f}")
assert np.linalg.norm(mistaken) > 0.5

# %% [markdown]
# Ply by ply, over 500 random games: how much of the slope is about cells that cannot be played anyway? And what entropy
# would the training log report? The dotted line is the largest there can be, the logarithm of the number of legal moves.

# %%
rng = np.random.default_rng(4)
games = Lockstep(500, 3, 3, 3)
wasted, reported, true, most = [], [], [], []
for ply in range(9):
    running = np.flatnonzero(~games.over)
    positions = games.positions(running)
    logits = net.predict(positions.planes)  # (n, 9)
    chosen = RandomAgent().choose_positions(positions, rng)
    _, d_logits = weighted_cross_entropy(logits, chosen, np.ones(len(running)), np.ones_like(positions.legal))
    wasted.append(np.abs(d_logits[~positions.legal]).sum() / np.abs(d_logits).sum())
    reported.append(entropy(logits, np.ones_like(positions.legal))[0])
    true.append(entropy(logits, positions.legal)[0])
    most.append(np.log(9 - ply))
    games.play(chosen, running)
assert wasted[0] == 0 and wasted[7] > 0.3
assert reported[8] > 1 > true[8] + 0.99  # one legal move: no uncertainty, whatever the log says

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.5), layout="constrained")
left.bar(range(9), wasted, color=VERMILION)
left.set(xlabel="ply", ylabel="share of the slope on taken cells", ylim=(0, 1))
right.plot(reported, color=VERMILION, marker="o", label="mask forgotten")
right.plot(true, color=BLUE, marker="o", label="mended")
right.plot(most, color="0.4", linestyle=":", label="largest possible")
right.set(xlabel="ply", ylabel="entropy (nats)")
right.legend(fontsize="small")
for ax in (left, right):
    ax.grid(alpha=0.3)

# %% [markdown]
# An entropy above the dotted line is how one notices: the log says the policy is open-minded when it has no choice. The
# bonus then pays for probability on taken cells.
#
# On this little board the win rate hardly suffers, so nobody notices. Look for it in the slope, not in the score.
#
# ## 4. Shared arrays
#
# NumPy hands out windows on the same memory where it can. `board.cells` is one: it follows the game. We store it after
# every move of a game. **What is in the list** in the end?

# %%
board = Board(3, 3, win_length=3)
windows, copies = [], []
for cell in (4, 0, 2, 6, 3):
    board.play(cell)
    windows.append(board.cells)
    copies.append(board.cells.copy())
assert all(np.array_equal(window, board.cells) for window in windows)  # five times the last position
assert [int(np.abs(copy).sum()) for copy in copies] == [1, 2, 3, 4, 5]

figure, axes = plt.subplots(2, 5, figsize=(8.5, 3.6), layout="constrained")
for row, pictures, name in zip(axes, (windows, copies), ("stored", "stored as copies")):
    for move, (ax, picture) in enumerate(zip(row, pictures), start=1):
        ax.imshow(picture, cmap="PuOr", vmin=-1.3, vmax=1.3)
        ax.set(xticks=[], yticks=[], title=f"after move {move}")
    row[0].set_ylabel(name)

# %% [markdown]
# A training on the upper row sees the end of every game and nothing of the way there. `planes(board)` makes a fresh array
# each time, and a test holds it to that.
#
# The same with networks: past selves, kept as opponents. **Does `past` play like the network did before the step?**

# %%
net = PolicyNet(3, 3, filters=(8, 8), hidden=32, rng=np.random.default_rng(5))
x, legal = planes(Board(3, 3, win_length=3))[None], np.ones((1, 9), dtype=bool)
past, kept = net, net.copy()  # another name for the same thing, and another thing
before = np.exp(masked_log_softmax(net.predict(x), legal))[0]  # (9,)

optimizer = Adam(net.parameters(), learning_rate=0.01)
for _ in range(100):
    _, d_logits = weighted_cross_entropy(net.forward(x), np.array([4]), np.ones(1), legal)
    optimizer.zero_grad()
    net.backward(d_logits)
    optimizer.step()
now, its, real = (np.exp(masked_log_softmax(one.predict(x), legal))[0] for one in (net, past, kept))
assert np.array_equal(its, now)  # `past` has learnt everything since
assert np.array_equal(real, before)

figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
for shift, chances, colour, name in [
    (-0.27, before, "0.6", "network before"), (0, its, VERMILION, "past = net"), (0.27, real, BLUE, "past = net.copy()")
]:
    ax.bar(np.arange(9) + shift, chances, width=0.27, color=colour, label=name)
ax.set(xlabel="cell", ylabel="probability of the first move", xticks=range(9))
ax.grid(axis="y", alpha=0.3)
ax.legend();

# %% [markdown]
# A league of such past selves is only the present self under many names: the policy trains against its mirror image
# alone, and nobody keeps it from forgetting what it once could.
#
# None of the four mistakes crashed, and most of them let the policy learn something. What finds them is a number one can
# predict: who wins with which colour, how many different games, a slope that must be 0, an array that must not change.
