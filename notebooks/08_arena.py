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
# # Who is stronger?
#
# Two players, some games, a winner: it looks simple. This lesson is about the ways to be wrong, and about numbers that say
# how wrong: intervals, Elo ratings, and what it is worth to move first.
#
# The code is `rl/arena.py` and `rl/elo.py`. The recorded games are in `notebooks/data/ladder.txt`.

# %%
import json
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

import experiments
from env import Board
from experiments.files.game_files import read_games
from experiments.pictures.arena_plots import rating_chart, result_matrix
from experiments.strength.standings import standings_of, table
from rl.agents import make_agent
from rl.arena import compare, wilson_interval
from rl.elo import DRAW, ELO, LOSS, WIN, chances
from rl.match import play_games

BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"

# %% [markdown]
# ## One game, a hundred times
#
# A trained policy that always plays its likeliest move meets a heuristic that always plays its first best cell. A hundred
# games from the empty board. **How many different games will that be?**

# %%
policy, heuristic = make_agent("policy:data/quick_policy.npz"), make_agent("greedy:java")
rng = np.random.default_rng(1)
records = play_games([(policy, heuristic)] * 100, [Board(6, 6, 4)] * 100, rng)
different = {record.moves for record in records}
print(f"{len(records)} games, {len(different)} different; won by black: {sum(r.winner == 1 for r in records)}")
assert len(different) == 1

# %% [markdown]
# One. "100 of 100" would be a single game with a very small interval around it.
#
# So every game begins from a few random stones. And since one opening may favour a colour, it is played twice, each player
# with black once: a *pair*.

# %%
result = compare(policy, heuristic, 200, new_board=partial(Board, 6, 6, 4), opening_plies=4, rng=rng)
different = {record.moves for record in result.records}
low, high = result.total.interval
print(f"{len(different)} different games: {result.total.win_rate:.1%} won, 95 % interval {low:.1%} to {high:.1%}")
assert len(different) > 150 and low < result.total.win_rate < high

# %% [markdown]
# ## How many games?
#
# The interval (Wilson's) narrows with the square root of the number of games. At a win rate of one half, 100 games leave
# about ten points on either side. **How many games** leave one?

# %%
counts = np.unique(np.logspace(1, 5, 41).astype(int) // 2 * 2)
half_widths = np.array([np.diff(wilson_interval(n // 2, n))[0] / 2 for n in counts])
needed = int(counts[np.argmax(half_widths <= 0.0101)])
print(f"about {needed:,} games for one point")
assert 8_000 < needed < 13_000  # a hundred times as many for a tenth of the width

figure, ax = plt.subplots(figsize=(6.6, 3.4), layout="constrained")
ax.loglog(counts, 100 * half_widths, color=BLUE)
ax.axhline(1, color="0.5", linestyle=":")
ax.set(xlabel="games", ylabel="half the 95 % interval (points)", title="win rate one half")
ax.grid(alpha=0.3, which="both");

# %% [markdown]
# ## Elo
#
# Win rates depend on the opponent. Elo gives each player one number, such that the difference of two predicts the result:
#
# $$\text{expected score} = \frac{1}{1 + 10^{-d/400}}$$
#
# **What does a lead of 400 points mean?**

# %%
lead = np.linspace(-800, 800, 161)
score = 1 / (1 + 10 ** (-lead / 400))
at_400 = score[lead == 400][0]
print(f"400 points: {at_400:.3f} points a game, {at_400 / (1 - at_400):.0f} wins for each loss")
shares = chances(lead / ELO, draw_weight=0.5)  # (161, 3): win, draw, loss with some draws
assert np.isclose(at_400 / (1 - at_400), 10)
assert np.allclose(shares.sum(axis=1), 1)

figure, ax = plt.subplots(figsize=(6.6, 3.6), layout="constrained")
ax.plot(lead, score, color="0.2", linestyle="--", label="expected score, no draws")
for column, colour, name in ((WIN, BLUE, "wins"), (DRAW, "0.6", "draws"), (LOSS, VERMILION, "losses")):
    ax.plot(lead, shares[:, column], color=colour, label=f"{name}, some draws")
ax.set(xlabel="lead (Elo points)", ylabel="share of games", ylim=(-0.02, 1.02))
ax.grid(alpha=0.3)
ax.legend(fontsize="small");

# %% [markdown]
# ## The ladder
#
# Five players, everybody against everybody, 60 games each on 9 x 9, five in a row, recorded move by move. We count who won
# with which colour, and look for the ratings under which these results are the likeliest.

# %%
games = read_games(Path("data/ladder.txt"))  # each game is replayed while it is read
standings = standings_of(games)
players, results = standings.players, standings.results  # results (K, K, 3): black, white, outcome
print(table(standings))

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
rating_chart(left, standings)
result_matrix(right, standings);

# %% [markdown]
# `random` is far down, with a wide interval. It lost all its games, so its rating could be anything low enough; what holds
# it is one imagined game, half won and half lost (see `fit`). The others are close enough to each other to be measured.
#
# **Are `greedy` and `greedy:sharp` different?** The second takes a win before it blocks. Look at the intervals first.

# %%
ratings = dict(zip(players, standings.ratings.players))
sharp, plain = ratings["greedy:sharp"], ratings["greedy"]
print(f"greedy:sharp {sharp.low:+.0f} to {sharp.high:+.0f}, greedy {plain.low:+.0f} to {plain.high:+.0f}")
assert plain.high > sharp.low  # they overlap: these games do not tell
order = [players[i] for i in standings.order]
assert order[-1] == "random" and {"threat", "summed"} == set(order[:2])

# %% [markdown]
# ## More games, narrower intervals
#
# The same fit after the first 10, 20, ... games of each two players.

# %%
pairs = {}
for game in games:
    pairs.setdefault(frozenset((game.black, game.white)), []).append(game)
lengths, paths = list(range(10, 61, 10)), {name: [] for name in players if name != "random"}
for length in lengths:
    some = [game for those in pairs.values() for game in those[:length]]
    found = standings_of(some, players, anchor=players.index("greedy")).ratings.players
    for name, path in paths.items():
        path.append(found[players.index(name)])

figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for (name, path), colour in zip(paths.items(), ("0.5", ORANGE, GREEN, BLUE)):
    ax.fill_between(lengths, [r.low for r in path], [r.high for r in path], color=colour, alpha=0.15, linewidth=0)
    ax.plot(lengths, [r.value for r in path], color=colour, marker="o", markersize=4, label=name)
ax.set(xlabel="games of each two players", ylabel="Elo above greedy, 95 % interval")
ax.grid(alpha=0.3)
ax.legend(fontsize="small", ncols=2)
widths = [r.high - r.low for r in paths["threat"]]
assert widths[-1] < 0.7 * widths[0]

# %% [markdown]
# ## Does one number do?
#
# Elo assumes that strength is a line: who beats somebody who beats me beats me. We compare what the ratings predict for
# each two players with what happened.

# %%
predicted, happened = [], []
for i, j in np.argwhere(results.sum(axis=2)):
    tally = results[i, j] / results[i, j].sum()
    black, white = standings.ratings.players[i], standings.ratings.players[j]
    x = (black.value - white.value + standings.ratings.first_move.value) / ELO
    draws = standings.ratings.draws
    share = chances(np.array(x), draw_weight=2 * draws / (1 - draws))
    predicted.append(share[WIN] + share[DRAW] / 2)
    happened.append(tally[WIN] + tally[DRAW] / 2)

figure, ax = plt.subplots(figsize=(4.2, 4), layout="constrained")
ax.plot([0, 1], [0, 1], color="0.6", linestyle=":")
ax.scatter(predicted, happened, color=BLUE)
ax.set(xlabel="black's score, predicted", ylabel="black's score, as it was", aspect="equal")
ax.grid(alpha=0.3)
gap = np.abs(np.array(predicted) - happened)
print(f"mean distance {gap.mean():.3f}, largest {gap.max():.3f}")
assert gap.mean() < 0.1

# %% [markdown]
# Here it does well. Between players of very different kinds it need not; then the matrix above says more than the ladder.
#
# ## What is the first move worth?
#
# `fit` has one more unknown: points added to whoever has black. **Will it be positive?** And how sure can these games make
# us?

# %%
worth = standings.ratings.first_move
black = standings.black
print(f"first move {worth.value:+.0f} Elo, {worth.low:+.0f} to {worth.high:+.0f}")
print(f"black won {black.wins}, drew {black.draws}, lost {black.losses}")
assert worth.low < worth.value < worth.high

# %% [markdown]
# Not sure enough. These games begin from four random stones, and most were decided by strength or drawn. On 6 x 6 with
# four in a row, the three shipped runs tell more: the verdict is 500 games with each colour against greedy.

# %%
runs = sorted((Path(experiments.__file__).parent / "results" / "quick").glob("s*"))
tallies = [json.loads((run / "result.json").read_text())["trained"]["greedy"] for run in runs]
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for shift, colour, name in ((-0.18, "0.15", "as_black"), (0.18, "0.7", "as_white")):
    rates = np.array([[tally[name][key] for key in ("win_rate", "low", "high")] for tally in tallies])  # (runs, 3)
    arms = [rates[:, 0] - rates[:, 1], rates[:, 2] - rates[:, 0]]
    places = np.arange(len(runs)) + shift
    ax.bar(places, rates[:, 0], width=0.34, color=colour, label=name.replace("_", " "))
    ax.errorbar(places, rates[:, 0], arms, fmt="none", color=VERMILION, capsize=4)
ax.set_xticks(range(len(runs)), [f"seed {run.name[1:]}" for run in runs])
ax.set(ylabel="games won against greedy, 95 % interval", ylim=(0, 1.25))
ax.grid(axis="y", alpha=0.3)
ax.legend(ncols=2, loc="upper right")
assert all(tally["as_black"]["low"] > tally["as_white"]["high"] for tally in tallies)  # beyond doubt, in every run

# %% [markdown]
# That is why every comparison here swaps the colours. A player tested only with black would look stronger than it is.
#
# Your own: `gomoku tournament random greedy threat --games 60 --size 9`, and `--sprt 0:50` to stop as soon as it is clear.
