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

import numpy as np
from matplotlib import pyplot as plt

import experiments
from experiments.metrics import read_metrics
from experiments.plots import entropy_curve, learning_curve, training_panel
from experiments.pictures.seed_plots import comparison_figure, measures
from experiments.strength.seeds import evaluations, mean_interval, student_t

results = Path(experiments.__file__).parent / "results"
runs = {path.name: read_metrics(path / "metrics.jsonl") for path in sorted(results.glob("quick/s*"))}
{name: len(rows) for name, rows in runs.items()}

# %% [markdown]
# ## The mean of three seeds
#
# One run tells little: another seed may do better or worse by luck. The thick line is the mean of the three, the thin ones
# are the seeds. Left of the dashed line the policy only drills: one move from a position with a win to take or a threat to
# block. Right of it, it plays whole games. (`gomoku plot RUN...` draws this same figure.)

# %%
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
learning_curve(ax, *runs.values());

# %% [markdown]
# ## The band
#
# It is the 95 % interval of the mean over *all* seeds, of which we have three. Three numbers show only roughly how far
# seeds lie apart, and Student's t pays for that. **By what factor is it wider than the 1.96 of a known spread?**

# %%
last = np.array([evaluations(rows, "greedy")[1, -1] for rows in runs.values()])  # (seeds,)
arm = student_t(len(last) - 1) * last.std(ddof=1) / np.sqrt(len(last))
print(f"{last}: mean {last.mean():.1%}, 95 % interval {last.mean() - arm:.1%} to {last.mean() + arm:.1%}")
print("t for 2, 3, 5, 20 seeds:", *(f"{student_t(seeds - 1):.2f}" for seeds in (2, 3, 5, 20)))
assert np.allclose(mean_interval(last), [last.mean(), last.mean() - arm, last.mean() + arm])
assert student_t(2) / 1.96 > 2.1

# %% [markdown]
# More than twice as wide, and with two seeds more than six times. Where the band is narrow, around 110,000 games, the
# three happened to agree; where it is wide, they did not. A fourth seed would bring the factor from 4.3 down to 3.2.

# %% [markdown]
# ## Is the difference between two seeds real?
#
# Each evaluation during training is 200 games, so its 95 % interval is about 11 points wide at one half: two points of
# the curve have to be farther apart than that to mean anything. The verdict at the end of a run is 1,000 games. **Do the
# seeds disagree?**

# %%
verdicts = {name: json.loads((results / "quick" / name / "result.json").read_text())["trained"]["greedy"] for name in runs}
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
# ## What is each part good for?
#
# Leave one out and train again: without any drills; without the few drills that go on during the games; without the
# entropy bonus; without the baseline, so that a result counts by itself instead of against the mean. The games are as many
# as before. **Which part will be missed most?**

# %%
names = {
    "no_drills": "no drills", "no_later_drills": "none during games", "no_entropy": "no entropy bonus",
    "no_baseline": "no baseline",
}
recipes = {"the whole recipe": list(runs.values())}
for folder, name in names.items():
    files = sorted(results.glob(f"ablations/{folder}/s*/metrics.jsonl"))
    recipes[name] = [read_metrics(file) for file in files]
last = {
    name: [next(row["evaluation"] for row in reversed(rows) if "evaluation" in row) for rows in seeds]
    for name, seeds in recipes.items()
}
comparison_figure(plt.figure(figsize=(11, 5.2), layout="constrained"), last);

# %%
ends = {name: [measures(evaluation) for evaluation in seeds] for name, seeds in last.items()}
blocked = {name: np.array([end["threat blocked"] for end in seeds]) for name, seeds in ends.items()}
beaten = {name: np.array([end["wins against greedy"] for end in seeds]) for name, seeds in ends.items()}
for name, seeds in ends.items():
    print(f"{name:<18} {len(seeds)} seeds   greedy beaten {beaten[name].mean():.0%}   blocked {blocked[name].mean():.0%}")
assert blocked["no drills"].max() < 0.3 and beaten["no drills"].max() < beaten["the whole recipe"].min()
assert blocked["none during games"].max() < 0.75 < blocked["the whole recipe"].min()
assert beaten["no entropy bonus"].max() < beaten["the whole recipe"].min()
assert abs(beaten["no baseline"].mean() - beaten["the whole recipe"].mean()) < 0.03

# %% [markdown]
# The drills. Whole games alone teach neither to take a win nor to block. If the drills stop when the games begin, the win
# rate does not show it, but a quarter of the blocking is forgotten: **one measure is not enough.** The entropy bonus is
# worth about half as much. The baseline makes no difference here that so few runs could show.
#
# Mind the dots with an interval of no width: there two seeds had equal results. With 200 games each that is luck, and the
# formula cannot know it. Two seeds are a beginning, not a proof.
#
# ## Why the entropy bonus?
#
# Without it the policy makes up its mind long before it knows better, and what it never tries it cannot learn. **When
# does that happen?**

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharex=True, sharey=True, layout="constrained")
for ax, name in zip(axes, ("the whole recipe", "no entropy bonus")):
    entropy_curve(ax, recipes[name][0]).set_title(name)
    ax.label_outer()

# %%
early = {}
for name in ("the whole recipe", "no entropy bonus"):
    row = next(row for row in recipes[name][0] if row["games"] > 10_000 and "evaluation" in row)
    early[name] = row["drill"]["entropy"]
    print(f"{name:<18} after {row['games']:,} drills: entropy {early[name]:.2f} nats")
assert early["no entropy bonus"] < 0.05 * early["the whole recipe"]

# %% [markdown]
# In the first tenth of the drills. The entropy comes back later, even above that of the whole recipe, but the policy
# never catches up: it ends with little more than half of the threats blocked.
#
# ## Numbers instead of pictures
#
# `evaluations` gives the points of a curve as an array: games, win rate, and the ends of its interval.

# %%
games, rate, low, high = evaluations(runs["s1"], "greedy")
drills_end = max(row["games"] for row in runs["s1"] if "drill" in row and "loss" not in row)
print(f"best by drills alone {rate[games <= drills_end].max():.1%}, after {drills_end:,} drills")
print(f"12,500 games later   {rate[games > drills_end][0]:.1%}")
