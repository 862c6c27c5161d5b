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
# # The policy gradient by hand
#
# Nobody tells the network which move was right. It plays a game, hears who won, and makes the winner's moves a little
# likelier and the loser's a little rarer. This lesson takes one game and follows every number of one such step.
#
# The game is three in a row on 3 x 3. The code is `rl/returns.py`, `nn/losses.py` and `rl/reinforce.py`.

# %%
import numpy as np
from matplotlib import pyplot as plt

from env import BLACK, Board, Lockstep
from env.coords import cell_name
from env.observation import planes
from env.render import position_pixels
from nn import PolicyNet
from nn.losses import entropy, masked_log_softmax, weighted_cross_entropy
from nn.optim import SGD
from rl.agents.random import RandomAgent
from rl.returns import discounted_returns, signed_results
from rl.sampling import choose_cells

BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
rng = np.random.default_rng(5)
net = PolicyNet(3, 3, filters=(4, 8), hidden=16, rng=rng, dtype=np.float64)

# %% [markdown]
# ## One game
#
# The network gives a logit for each of the nine cells. A softmax over the legal ones makes them probabilities, and the
# move is drawn from those. We write down what it saw, what was legal, what it drew.

# %%
board = Board(3, 3, win_length=3)
seen, legal, actions, colours, chances = [], [], [], [], []
while board.outcome is None:
    x, mask = planes(board)[None], board.legal_mask()[None]  # (1, 2, 3, 3), (1, 9)
    logits = net.predict(x)  # (1, 9)
    cell = int(choose_cells(logits, mask, 1.0, rng)[0])
    chances.append(np.exp(masked_log_softmax(logits, mask))[0, cell])
    seen.append(x[0]), legal.append(mask[0]), actions.append(cell), colours.append(board.to_move)
    board.play(cell)
seen, legal = np.array(seen), np.array(legal)  # (T, 2, 3, 3), (T, 9)
actions, colours = np.array(actions), np.array(colours)  # (T,), (T,)

figure, ax = plt.subplots(figsize=(3.2, 3.2), layout="constrained")
ax.imshow(position_pixels(board.cells, line=board.outcome.line, cell=64), extent=(-0.5, 2.5, 2.5, -0.5))
for ply, cell in enumerate(actions):
    ax.text(cell % 3, cell // 3, ply, ha="center", va="center", color=VERMILION, fontsize=15, fontweight="bold")
ax.set(xticks=range(3), xticklabels=list("abc"), yticks=range(3), yticklabels=[3, 2, 1], title="the plies in order");

# %% [markdown]
# ## Credit
#
# The result z is +1 for every move of the winner and -1 for every move of the loser. The last moves probably mattered
# more, so with a discount g = 0.9 a move counts g for each own move that still came after it:
#
# $$G_t = g^{\,k_t} z_t, \qquad z_t = \text{winner} \cdot \text{colour}_t, \qquad
# k_t = \text{own moves still to come}$$
#
# **What is G** for the winner's last move, and for the loser's last?

# %%
winner = board.outcome.winner
T = len(actions)
moves_left = (T - 1 - np.arange(T)) // 2  # (T,)
z = signed_results(np.full(T, winner), colours)  # (T,)
returns = discounted_returns(z, moves_left, discount=0.9)  # (T,)
assert winner != 0 and returns[-1] == 1 and returns[-2] == -1

print("ply  colour  move  probability  moves left      z       G")
for t in range(T):
    name, colour = cell_name(actions[t], 3, 3), "black" if colours[t] == BLACK else "white"
    print(f"{t:3}  {colour:6}  {name:4}  {chances[t]:11.3f}  {moves_left[t]:10}  {z[t]:+5.0f}  {returns[t]:+6.3f}")

# %% [markdown]
# ## The loss, and its slope by the logits
#
# $$\text{loss} = -\frac{1}{T} \sum_t G_t \log p(a_t \mid s_t), \qquad
# \frac{\partial\, \text{loss}}{\partial\, \text{logit}_b} = \frac{G_t}{T}\,(p_b - [b = a_t])$$
#
# A step goes against the slope. So where G > 0 the chosen move's logit rises and all others fall, in proportion to their
# probability. Where G < 0 it is the other way round. **What is the slope** of a cell that was already taken?

# %%
logits = net.forward(seen)  # (T, 9)
loss, d_logits = weighted_cross_entropy(logits, actions, returns, legal)  # d_logits (T, 9)

p = np.exp(masked_log_softmax(logits, legal))  # (T, 9)
by_hand = returns[:, None] / T * (p - np.eye(9)[actions])  # the formula above
assert np.allclose(d_logits, by_hand)
assert np.all(d_logits[~legal] == 0)  # nothing to learn about what cannot be played
assert np.allclose(d_logits.sum(axis=1), 0)  # what one move gains the others lose

figure, ax = plt.subplots(figsize=(7.2, 3.8), layout="constrained")
image = ax.imshow(-d_logits, cmap="PuOr", vmin=-0.2, vmax=0.2, aspect="auto")
ax.scatter(actions, range(T), marker="o", s=110, facecolors="none", edgecolors=VERMILION, linewidths=2)
ax.set(xlabel="cell", ylabel="ply", xticks=range(9), yticks=range(T), title="push on each logit (circle: the move played)")
ax.set_xticklabels([cell_name(cell, 3, 3) for cell in range(9)])
figure.colorbar(image, ax=ax, label="- d_logits");

# %% [markdown]
# ## One step
#
# The slopes go backwards through the network, and every weight takes a small step. **Which moves become likelier?**

# %%
optimizer = SGD(net.parameters(), learning_rate=0.1)
optimizer.zero_grad()
net.backward(d_logits)
optimizer.step()

rows = np.arange(T)
before = p[rows, actions]  # (T,)
after = np.exp(masked_log_softmax(net.predict(seen), legal))[rows, actions]  # (T,)
print(f"sum of G log p: {returns @ np.log(before):.4f} -> {returns @ np.log(after):.4f}")
assert returns @ np.log(after) > returns @ np.log(before)  # it rose: that is what was asked for
assert all(after[t] >= before[t] - 0.01 for t in range(T) if returns[t] > 0)

figure, ax = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
ax.bar(rows - 0.2, before, width=0.4, color="0.7", label="before")
ax.bar(rows + 0.2, after, width=0.4, color=np.where(returns > 0, BLUE, VERMILION), label="after")
ax.set(xlabel="ply", ylabel="probability of the move played", ylim=(0, 0.6), xticks=rows)
ax.set_title("blue: the winner's moves, orange: the loser's", fontsize="medium")
ax.grid(axis="y", alpha=0.3)
ax.legend(["before", "after"]);

# %% [markdown]
# The winner's moves up, the loser's down. Some hardly move: all plies share their weights, so one push can be in another's
# way. One game proves little anyway: good moves lose and bad ones win. Only over many games does the noise cancel. The
# rest of the lesson is about that noise.
#
# ## Why a baseline
#
# A position of this game: black to move, who is far ahead. We play it on 4,000 times, both sides at random, and look at
# the push on black's next move alone.

# %%
start = Board.from_moves([4, 1, 0], height=3, width=3, win_length=3)  # black b2 and a3, white b3
start.play(2)  # white c3: does not block c1
games = Lockstep(4000, 3, 3, 3)
for cell in start.moves:
    games.play(np.full(4000, cell))
mask = games.legal[0].copy()  # (9,)
first = choose_cells(np.zeros((4000, 9)), games.legal, 1.0, rng)  # (4000,)
games.play(first)
while not games.over.all():
    running = np.flatnonzero(~games.over)
    games.play(RandomAgent().choose_positions(games.positions(running), rng), running)
results = games.winner.astype(float)  # (4000,), black's view

means = [results[first == cell].mean() for cell in np.flatnonzero(mask)]
print(f"mean result {results.mean():+.2f}; by move:")
print("   ".join(f"{cell_name(cell, 3, 3)} {mean:+.2f}" for cell, mean in zip(np.flatnonzero(mask), means)))
assert max(means) == 1  # c1 wins at once

# %% [markdown]
# Nearly every game is won, so nearly every move that is tried is pushed up, and luck decides which more than others.
# Subtract a number b, the same for all moves, from every result. Then only what is *better than usual* is pushed up.
#
# That changes nothing in the mean: the push is b times (p - [chosen]), and its mean over the choice is p - p = 0.
# **But what will it do to the noise?**

# %%
scores = np.eye(9)[first] - mask / mask.sum()  # (4000, 9): the push of one game with G = 1
baselines = np.linspace(-1.0, 1.5, 26)
noise = [np.sqrt(((results - b)[:, None] * scores).var(axis=0).sum()) for b in baselines]
plain = results[:, None] * scores  # (4000, 9)
better = (results - results.mean())[:, None] * scores
standard_error = plain.std(axis=0) / np.sqrt(4000)
assert np.all(np.abs(plain.mean(axis=0) - better.mean(axis=0)) <= 4 * standard_error + 1e-12)  # the same push ...
assert better.var(axis=0).sum() < 0.8 * plain.var(axis=0).sum()  # ... with less noise

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 3.8), layout="constrained")
cells = np.flatnonzero(mask)
for shift, pushes, colour, name in [(-0.2, plain, "0.65", "without"), (0.2, better, BLUE, "with")]:
    height, spread = pushes.mean(axis=0)[cells], pushes.std(axis=0)[cells] / np.sqrt(40)
    left.bar(np.arange(len(cells)) + shift, height, width=0.4, color=colour, label=f"{name} baseline")
    left.errorbar(np.arange(len(cells)) + shift, height, spread, fmt="none", color="0.2", capsize=3)
left.axhline(0, color="0.4", linewidth=0.8)
left.set_xticks(range(len(cells)), [cell_name(cell, 3, 3) for cell in cells])
left.set(xlabel="move", ylabel="mean push on its logit", title="black whiskers: one standard error of 40 games")
left.legend(fontsize="small")
right.plot(baselines, noise, color=BLUE)
right.axvline(results.mean(), color=ORANGE, linestyle="--", label="mean result")
right.axvline(0, color="0.6", linestyle=":", label="no baseline")
right.set(xlabel="baseline b", ylabel="noise of one game's push", ylim=(0, None))
right.grid(alpha=0.3)
right.legend(fontsize="small");

# %% [markdown]
# The noise is least near the mean result. The same certainty takes fewer games. Noise falls with the square root of the
# number of games, so the saving in games is the square of the ratio:

# %%
saving = plain.var(axis=0).sum() / better.var(axis=0).sum()
print(f"without a baseline it takes {saving:.1f} times as many games")
assert saving > 1.2

# %% [markdown]
# ## Why entropy
#
# The score (p - [chosen]) has a trap. When one move has nearly all the probability, the others are hardly ever tried and
# the score of the usual one is nearly 0. The policy stands still, right or wrong.
#
# Three moves with expected results 0, 0.5 and 1. The policy begins 95 % sure of the *second*. We take exact expectations,
# no luck involved, and add to the loss an entropy bonus:
#
# $$\text{loss} = -\sum_a p_a\, (r_a - \bar r) \log p_a \;-\; \beta H(p), \qquad H(p) = -\sum_a p_a \log p_a$$
#
# (the p and r in front are plain numbers; no slope goes through them). **Which of the three policies finds the best
# move first?**

# %%
r = np.array([0.0, 0.5, 1.0])  # (A,)
all_legal = np.ones((3, 3), dtype=bool)
paths, uncertainties = {}, {}
for beta in (0.0, 0.1, 0.3):
    logits = np.log(np.array([[0.045, 0.95, 0.005]]))  # (1, A)
    path, uncertainty = [], []
    for _ in range(700):
        p = np.exp(masked_log_softmax(logits, all_legal[:1]))[0]  # (A,)
        advantages = 3 * p * (r - p @ r)  # 3 rows are averaged, we want their sum
        _, d_policy = weighted_cross_entropy(np.repeat(logits, 3, axis=0), np.arange(3), advantages, all_legal)
        h, d_entropy = entropy(logits, all_legal[:1])
        logits = logits - 0.5 * (d_policy.sum(axis=0) - beta * d_entropy)
        path.append(p[2]), uncertainty.append(h)
    paths[beta], uncertainties[beta] = np.array(path), np.array(uncertainty)

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 3.6), layout="constrained")
for (beta, path), colour in zip(paths.items(), (VERMILION, BLUE, GREEN)):
    left.plot(path, color=colour, label=f"beta = {beta:g}")
    right.plot(uncertainties[beta], color=colour, label=f"beta = {beta:g}")
left.set(xlabel="step", ylabel="probability of the best move", ylim=(-0.02, 1.02))
right.set(xlabel="step", ylabel="entropy (nats)", ylim=(0, np.log(3)))
for ax in (left, right):
    ax.grid(alpha=0.3)
    ax.legend(fontsize="small")

# %%
steps = {beta: int((path < 0.5).sum()) for beta, path in paths.items()}
print("steps with the best move below one half, of 700:", steps)
assert steps[0.3] < steps[0.1] < steps[0.0] == 700  # without a bonus it never got away
assert paths[0.3][-1] < 0.9 < paths[0.1][-1]  # and the price: a policy that is never quite sure

# %% [markdown]
# A bonus speeds up the way out of a wrong certainty, and too large a one never lets the policy make up its mind. That is
# why training begins with a large beta and ends with a small one (`entropy_weight` and `final_entropy_weight`).
#
# All of it together, over 80,000 games instead of one, is `gomoku train`; lesson 06 reads what came out.
