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
# # From the Java program to NumPy, bit for bit
#
# This laboratory equals a reference program written in Java: the same weights, the same logits, the same moves. Not
# nearly the same: the same 64 bits. Two things stand in the way of that, and this lesson is about them: the random numbers
# a network starts from, and the order in which it adds.
#
# The code is `nn/java_random.py` and `nn/exact.py`. What Java computed is in `tests/data/parity`.

# %%
import json
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt

import experiments
from env import Board
from env.observation import planes
from experiments.java.demo_game import demo_text
from nn import PolicyNet
from nn.exact import exact_dense, exact_forward
from nn.java_random import INCREMENT, MULTIPLIER, STATE_MASK, JavaRandom, fdlibm_log

BLUE, ORANGE, VERMILION = "#0072B2", "#E69F00", "#D55E00"
golden = Path(experiments.__file__).parent.parent / "tests" / "data" / "parity"

# %% [markdown]
# ## One line makes random numbers
#
# `java.util.Random` keeps 48 bits. Each call multiplies, adds, and keeps the lowest 48 bits of the result:
#
# $$s \leftarrow (s \cdot \texttt{0x5DEECE66D} + 11) \bmod 2^{48}$$
#
# `nextInt()` is the top 32 of them, as a signed number. Ask Java for `new Random(42).nextInt()`, and it says -1170105035.

# %%
state = (42 ^ MULTIPLIER) & STATE_MASK  # Java scrambles the seed first
state = (state * MULTIPLIER + INCREMENT) & STATE_MASK
top = state >> 16
assert top - (1 << 32) == -1170105035 == JavaRandom(42).next_int()

table = {row["seed"]: row for row in json.loads((golden / "random.json").read_text())["seeds"]}
for seed, row in table.items():
    rng = JavaRandom(seed)
    assert [rng.next_int() for _ in range(20)] == row["nextInt"]
print(f"20 numbers of each of {len(table)} seeds: as Java's")

# %% [markdown]
# **Why the top bits?** Look at the states as pictures: one row a state, one column a bit, the lowest on the right. What
# will the last column look like?

# %%
states = [state]
for _ in range(63):
    states.append((states[-1] * MULTIPLIER + INCREMENT) & STATE_MASK)
bits = np.array([[(s >> bit) & 1 for bit in range(47, -1, -1)] for s in states])  # (64, 48)
assert np.array_equal(bits[1:, -1], 1 - bits[:-1, -1])  # 0, 1, 0, 1, ...
assert np.array_equal(bits[4:, -2], bits[:-4, -2])  # and the next one comes again every four

figure, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
ax.imshow(bits, cmap="Blues", vmax=1.4, aspect="auto", interpolation="nearest")
ax.axvline(31.5, color=VERMILION, linewidth=2)
ax.set(xlabel="bit, the highest left (right of the line: never given out by nextInt)", ylabel="call")
ax.set_xticks([0, 15, 31, 47], [47, 32, 16, 0]);

# %% [markdown]
# The lowest bit alternates, the next repeats every four calls, and so on: the low bits are hardly random at all.
#
# ## Bell curves from a disc
#
# Weights start as Gaussians. Java draws a point in a square until it falls inside the circle, and stretches both its
# coordinates:
#
# $$q = v_1^2 + v_2^2 < 1, \qquad g_{1,2} = v_{1,2} \sqrt{-2 \ln(q) / q}$$
#
# Two come out at a time. The second is kept for the next call. **How many of the points are thrown away?**

# %%
rng = JavaRandom(1)
points = 2 * rng.random((2000, 2)) - 1  # (2000, 2) in the square
q = (points**2).sum(axis=1)  # (2000,)
inside = q < 1
gaussians = points[inside] * np.sqrt(-2 * np.log(q[inside]) / q[inside])[:, None]
assert abs(inside.mean() - np.pi / 4) < 0.03  # a circle in its square: 21 % are thrown away

figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.5), layout="constrained")
axes[0].scatter(*points[~inside].T, s=4, color="0.7")
axes[0].scatter(*points[inside].T, s=4, color=BLUE)
axes[0].set(xlabel="v1", ylabel="v2", aspect="equal", title="points drawn")
axes[1].scatter(*gaussians.T, s=4, color=BLUE)
axes[1].set(xlabel="g1", ylabel="g2", aspect="equal", title="stretched", xlim=(-4, 4), ylim=(-4, 4))
grid = np.linspace(-4, 4, 81)
axes[2].hist(gaussians.ravel(), bins=40, density=True, color=BLUE, alpha=0.5)
axes[2].plot(grid, np.exp(-(grid**2) / 2) / np.sqrt(2 * np.pi), color=VERMILION)
axes[2].set(xlabel="g", ylabel="density", title="both coordinates");

# %% [markdown]
# ## All at once
#
# The largest layer takes 1.8 million Gaussians, one after the other, and a Python loop is slow. But two steps of the
# generator are again "multiply and add": $a(as + c) + c = a^2 s + (ac + c)$. So the state k steps ahead is one
# multiplication away, and NumPy makes 65,536 of them in one operation. **Equal, to the bit?**

# %%
slowly, quickly = JavaRandom(7), JavaRandom(7)
one_by_one = np.array([slowly.next_gaussian() for _ in range(3001)])
together = quickly.standard_normal(3001)
assert np.array_equal(one_by_one, together)
assert slowly.next_gaussian() == quickly.next_gaussian()  # the kept second one, too
assert slowly.next_int() == quickly.next_int()  # and both stand at the same place
java = np.array([int(word, 16) for word in table[42]["nextGaussian_hex"]], dtype=np.uint64).view(np.float64)
assert np.array_equal(JavaRandom(42).standard_normal(len(java)), java)
print("3,001 Gaussians alike, and", len(java), "like Java's")

# %% [markdown]
# ## A logarithm is not a logarithm
#
# Java's `StrictMath.log` is always the same function, but not always the double nearest to the logarithm. NumPy's is
# another one. **How often do they differ**, and by how much? (One "ulp" is the step from a double to the next.)

# %%
x = JavaRandom(3).random(200_000)
away = (np.log(x) - fdlibm_log(x)) / np.spacing(np.abs(fdlibm_log(x)))  # in ulp
steps, counts = np.unique(away.round(), return_counts=True)
print("ulp apart:", {int(step): int(count) for step, count in zip(steps, counts)})
assert np.abs(away).max() <= 1
print(f"{(away != 0).mean():.1%} of the logarithms differ")
assert 0 < (away != 0).mean() < 0.2

# %% [markdown]
# A last bit in some weights: nobody would ever notice it in play. But "equal, except sometimes in the last bit" cannot be
# tested. Then a real mistake hides among the harmless ones. So the library has Java's logarithm: twenty lines.
#
# ## The order of additions
#
# Floating-point numbers are rounded after every operation, so $(a + b) + c$ is not $a + (b + c)$. **What are these two?**

# %%
print("(1e16 + 1) - 1e16 =", (1e16 + 1) - 1e16)
print("(1e16 - 1e16) + 1 =", (1e16 - 1e16) + 1)
assert (0.1 + 0.2) + 0.3 != 0.1 + (0.2 + 0.3)

# %% [markdown]
# Java adds one product after the other. `np.sum` adds in pairs, and a matrix product in whatever order is fastest on this
# processor. All are right to 15 digits or so; none is *the* sum.
#
# Here one neuron with 7,200 inputs is added up in 300 random orders. The line is Java's order.

# %%
rng = np.random.default_rng(1)
products = rng.standard_normal(7200) * rng.standard_normal(7200) / 60  # (7200,)
java_order = np.add.accumulate(products)[-1]
shuffled = np.array([np.add.accumulate(rng.permutation(products))[-1] for _ in range(300)])
assert len(set(shuffled)) > 10
assert np.abs(shuffled - java_order).max() < 1e-12

figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
ax.hist((shuffled - java_order) * 1e15, bins=31, color=BLUE, alpha=0.8)
ax.axvline(0, color=VERMILION, linewidth=2)
ax.set(xlabel="sum less Java's sum (units of 1e-15)", ylabel="orders")
ax.grid(axis="y", alpha=0.3)
print(f"300 orders gave {len(set(shuffled))} different sums")

# %% [markdown]
# So the exact layer must multiply first and then add, row by row, in Java's order. NumPy can do that for all outputs at
# once, because a sum over the *first* axis of an array is taken row after row:

# %%
x, weight, bias = rng.standard_normal((1, 7200)), rng.standard_normal((7200, 8)), rng.standard_normal(8)
exact = exact_dense(x, weight, bias)[0]  # (8,)
for column in range(8):
    terms = np.concatenate([bias[column : column + 1], x[0] * weight[:, column]])
    assert exact[column] == np.add.accumulate(terms)[-1]  # the bias first, then product after product
product = (x @ weight + bias)[0]
assert np.allclose(exact, product)
print("outputs equal to the matrix product's, bit for bit:", int((exact == product).sum()), "of 8")

# %% [markdown]
# ## The whole network against Java
#
# Now the real thing: the network of four seeds, a position, and the 225 logits that Java wrote down as 64-bit patterns.
# **How many of the 225 will agree** with the exact forward pass, and how many with the fast one?

# %%
forward = json.loads((golden / "forward.json").read_text())
net = PolicyNet.java((1, 2, 3, 4))
agree_exact, agree_fast, apart = [], [], []
for position in forward["positions"][7:13]:
    assert position["net"] == 0
    board = Board.from_moves([row * 15 + col for row, col in position["moves"]])
    seen = planes(board)[None].astype(np.float64)  # (1, 2, 15, 15)
    java = np.array([int(word, 16) for word in position["logits_hex"]], dtype=np.uint64).view(np.float64)  # (225,)
    agree_exact.append(int((exact_forward(net, seen)[0] == java).sum()))
    fast = net.predict(seen)[0]
    agree_fast.append(int((fast == java).sum()))
    apart.append(np.abs(fast - java))
assert agree_exact == [225] * 6
assert np.max(apart) < 1e-12  # the fast one is not wrong, only not the same

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
left.bar(np.arange(6) - 0.2, agree_exact, width=0.4, color=BLUE, label="exact")
left.bar(np.arange(6) + 0.2, agree_fast, width=0.4, color=ORANGE, label="fast")
left.set(xlabel="position", ylabel="logits equal to Java's, of 225", ylim=(0, 290))
left.legend(ncols=2, loc="upper right")
right.hist(np.ravel(apart) * 1e15, bins=40, color=ORANGE)
right.set(xlabel="|fast - Java| (units of 1e-15)", ylabel="logits")
for ax in (left, right):
    ax.grid(axis="y", alpha=0.3)

# %% [markdown]
# All of them. The fast one is as good for playing, and training uses it; the exact one is the proof that both are the
# Java program's network and not something like it.
#
# ## A whole game
#
# Last, the Java program's demonstration: its network against its heuristic, printed move by move. Every byte must be
# there.

# %%
text = demo_text([1, 2, 3, 4], None)
assert text == (golden / "demo.txt").read_text(encoding="utf-8")
print(text[:text.index("0 ")])
print("...", text.splitlines()[-1], f"({text.count('落子')} moves, {len(text.encode()):,} bytes, all equal)")

# %% [markdown]
# `gomoku parity tests/data/parity` compares everything that Java wrote down in this way, and says where the first
# difference is if there is one.
