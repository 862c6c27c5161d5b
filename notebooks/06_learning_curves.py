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
# # Reading a learning curve
#
# A run directory holds one line of JSON an update, `metrics.jsonl`, and everything else is drawn from it. Here are the
# three runs that come with the repository: `make train` with the seeds 1, 2 and 3, on 6x6, four in a row.

# %%
import json
from pathlib import Path

from matplotlib import pyplot as plt

import experiments
from experiments.metrics import read_metrics
from experiments.plots import evaluations, learning_curve, training_panel

results = Path(experiments.__file__).parent / "results" / "quick"
runs = {path.name: read_metrics(path / "metrics.jsonl") for path in sorted(results.glob("s*"))}
{name: len(rows) for name, rows in runs.items()}

# %% [markdown]
# ## The mean of three seeds
#
# One run tells little: another seed may do better or worse by luck. The line is the mean of the three, the band reaches
# from the lowest to the highest. Left of the dashed line the policy only drills: one move from a position with a win to
# take or a threat to block. Right of it, it plays whole games. (`gomoku plot RUN...` draws this same figure.)

# %%
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
learning_curve(ax, *runs.values());

# %% [markdown]
# ## Is the difference between two seeds real?
#
# Each evaluation during training is 200 games, so its 95 % interval is about 11 points wide at one half: two points of
# the curve have to be farther apart than that to mean anything. The verdict at the end of a run is 1,000 games. **Do the
# seeds disagree?**

# %%
verdicts = {name: json.loads((results / name / "result.json").read_text())["trained"]["greedy"] for name in runs}
for name, greedy in verdicts.items():
    print(f"{name}: {greedy['win_rate']:.1%} against greedy, {greedy['low']:.1%} to {greedy['high']:.1%}")
assert max(greedy["low"] for greedy in verdicts.values()) < min(greedy["high"] for greedy in verdicts.values())

# %% [markdown]
# All three intervals overlap: the seeds do not disagree.
#
# ## What went on inside
#
# Win rates say how well it plays, the other panels why. The entropy falls as the policy makes up its mind; had it
# fallen to nothing in the first minutes, nothing more could have been learnt. The share of threats blocked dips when
# whole games begin, and comes back: a few drills after each batch of games keep the skill alive.

# %%
training_panel(plt.figure(figsize=(11, 6.5), layout="constrained"), runs["s1"]);

# %% [markdown]
# ## Numbers instead of pictures
#
# `evaluations` gives the points of a curve as an array: games, win rate, and the ends of its interval.

# %%
games, rate, low, high = evaluations(runs["s1"], "greedy")
drills_end = max(row["games"] for row in runs["s1"] if "drill" in row and "loss" not in row)
print(f"best by drills alone {rate[games <= drills_end].max():.1%}, after {drills_end:,} drills")
print(f"12,500 games later   {rate[games > drills_end][0]:.1%}")
