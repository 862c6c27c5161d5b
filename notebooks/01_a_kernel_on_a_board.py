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
# # A kernel on a board
#
# A convolution is one small window of weights that looks at every place of the board. This lesson does it three times:
# by its definition, as one matrix product, and backwards. It ends with a kernel that learns what to look for.
#
# The code is `nn/conv.py`; here we only look at it. Now and then a cell asks what will come out. Answer first.

# %%
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.patches import Rectangle

from env import BLACK, Board
from env.coords import parse_cell
from env.observation import planes
from nn.conv import Conv2D, col2im, convolve_backward_by_definition, convolve_by_definition, im2col
from nn.losses import squared_error
from nn.optim import SGD

# %% [markdown]
# ## The board as numbers
#
# A network does not see stones. It sees two planes of zeros and ones: first the stones of the side to move, then the
# other's. Here black, to move, has three in a row. (In all pictures an empty square is a 0.)

# %%
moves = [parse_cell(name, 7, 7) for name in "c4 c6 d4 e2 e4 b2".split()]
board = Board.from_moves(moves, height=7, width=7, win_length=5)
assert board.to_move == BLACK
x = planes(board)[None].astype(np.float64)  # (N, C, H, W) = (1, 2, 7, 7)

figure, axes = plt.subplots(1, 2, figsize=(6.6, 3.4), layout="constrained")
for ax, plane, name in zip(axes, x[0], ["own stones, plane 0", "the other's, plane 1"]):
    ax.imshow(plane, cmap="Blues", vmax=1.6)
    ax.set(title=name, xlabel="column", ylabel="row")
    for row, col in np.argwhere(plane):
        ax.text(col, row, "1", ha="center", va="center", color="0.1")

# %% [markdown]
# ## One kernel, by definition
#
# A kernel is a 3 x 3 window of weights. Lay it on the board, multiply each weight by the number under it, add the nine
# products up, write the sum down where the window's middle is. Then move on by one.
#
# $$\text{out}[r, c] = \text{bias} + \sum_{i=0}^{2} \sum_{j=0}^{2} \text{weight}[i, j] \cdot x[r + i - 1,\; c + j - 1]$$
#
# Beyond the edge there are zeros ("padding 1"). Our kernel looks along a row:

# %%
kernel = np.array([[0, 0, 0], [1, 1, 1], [0, 0, 0]], dtype=float)
weight = np.stack([kernel, np.zeros((3, 3))])[None]  # (F, C, KH, KW) = (1, 2, 3, 3): it ignores the other's stones
bias = np.zeros(1)  # (F,)
out = convolve_by_definition(x, weight, bias, padding=(1, 1))  # (N, F, OH, OW) = (1, 1, 7, 7)

# %% [markdown]
# **What will `out` be** at the middle stone of the three, d4 (row 3, column 3)? And at f4, the empty point to the right
# of them (row 3, column 5)?

# %%
assert out[0, 0, 3, 3] == 3  # all three stones lie under the window
assert out[0, 0, 3, 5] == 1  # only e4 does

figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
pictures = [(x[0, 0], "own stones"), (kernel, "kernel"), (out[0, 0], "out")]
for ax, (picture, name) in zip(axes, pictures):
    ax.imshow(picture, cmap="Blues", vmin=0, vmax=4)
    ax.set(title=name, xlabel="column", ylabel="row", xticks=range(len(picture)), yticks=range(len(picture)))
    for row, col in np.argwhere(picture):
        ax.text(col, row, f"{picture[row, col]:.0f}", ha="center", va="center", color="0.1")
axes[0].add_patch(Rectangle((1.5, 1.5), 3, 3, fill=False, edgecolor="#D55E00", linewidth=2.5))
axes[2].add_patch(Rectangle((2.5, 2.5), 1, 1, fill=False, edgecolor="#D55E00", linewidth=2.5));

# %% [markdown]
# The orange window sees the three stones; its sum stands in the orange cell. `out` is a map of "how many of mine are
# here in a row". One kernel, nine weights, the whole board: that is why a convolution needs so few of them.
#
# ## Four kernels for four directions
#
# Several kernels are several planes of output. In a row, in a column, and along both diagonals:

# %%
lines = np.stack([kernel, kernel.T, np.eye(3), np.eye(3)[::-1]])  # (4, 3, 3)
weights = np.zeros((4, 2, 3, 3))  # (F, C, KH, KW)
weights[:, 0] = lines  # own stones count for it,
weights[:, 1] = -lines  # the other's count against it
outs = convolve_by_definition(x, weights, np.zeros(4), (1, 1))  # (1, 4, 7, 7)

figure, axes = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
for ax, picture, name in zip(axes, outs[0], ["row", "column", "falling diagonal", "rising diagonal"]):
    image = ax.imshow(picture, cmap="PuOr", vmin=-3, vmax=3)
    ax.set(title=name, xlabel="column")
axes[0].set_ylabel("row")
figure.colorbar(image, ax=axes, label="own stones less the other's");

# %% [markdown]
# ## The same as one matrix product
#
# Loops are slow. `im2col` writes what the window sees at each place as one column: nine numbers a plane, so
# 2 x 9 = 18 rows, and one column for each of the 49 places.

# %%
columns = im2col(x, kernel=(3, 3), padding=(1, 1))  # (N, C*KH*KW, OH*OW) = (1, 18, 49)
place = 3 * 7 + 3  # d4: row 3, column 3 of 7

figure, ax = plt.subplots(figsize=(10, 4), layout="constrained")
ax.imshow(columns[0], cmap="Blues", vmax=1.6, aspect="auto")
ax.add_patch(Rectangle((place - 0.5, -0.5), 1, 18, fill=False, edgecolor="#D55E00", linewidth=2))
ax.axhline(8.5, color="0.5", linewidth=1)
ax.set(xlabel="place: 7 * row + column", ylabel="plane, window row, window column")
ax.set(title="im2col: the orange column is what the window sees at d4", yticks=[0, 8, 9, 17]);

# %% [markdown]
# With the weights written as rows, all sums of all kernels at all places are one product:
#
# $$\underbrace{\text{out}}_{4 \times 49} = \underbrace{\text{rows}}_{4 \times 18} \cdot
# \underbrace{\text{columns}}_{18 \times 49}$$
#
# **Will it be the same**, or only nearly? These are small whole numbers, which floating point adds exactly.

# %%
rows = weights.reshape(4, -1)  # (F, C*KH*KW) = (4, 18)
product = (rows @ columns[0]).reshape(4, 7, 7)
assert np.array_equal(product, outs[0])
print("equal, to the last bit, at", product.size, "places")

# %% [markdown]
# ## Backward: who is to blame?
#
# Later a loss will say of every output how it should have been: `d_out`, the slope of the loss by `out`. Backward asks
# what that means for the weights and for the input. Suppose only the output at e3 matters (row 4, column 4):

# %%
d_out = np.zeros((1, 1, 7, 7))
d_out[0, 0, 4, 4] = 1.0
d_x, d_weight, d_bias = convolve_backward_by_definition(d_out, x, weight, (1, 1))

# %% [markdown]
# `out` at e3 is a sum of products `weight * x`. Nudge a weight, and the sum moves by the x under it. Nudge an x, and it
# moves by the weight above it. So **what will `d_weight` be**, and what `d_x`?

# %%
assert np.array_equal(d_weight.ravel(), columns[0, :, 4 * 7 + 4])  # what the window saw: its column
assert np.array_equal(d_x[0, 0, 3:6, 3:6], kernel)  # the kernel, laid down where the window was
assert d_bias == [1]

figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
pictures = [(d_out[0, 0], "d_out"), (d_weight[0, 0], "d_weight = what was seen"), (d_x[0, 0], "d_x = the kernel")]
for ax, (picture, name) in zip(axes, pictures):
    ax.imshow(picture, cmap="Oranges", vmin=0, vmax=2)
    ax.set(title=name, xlabel="column", ylabel="row", xticks=range(len(picture)), yticks=range(len(picture)))
    for row, col in np.argwhere(picture):
        ax.text(col, row, f"{picture[row, col]:.0f}", ha="center", va="center", color="0.1")

# %% [markdown]
# When many outputs matter, all their shares add up: one weight is used at every place, one x lies under nine windows.
#
# `col2im` does that second sum. Give it ones, and it counts under how many windows each point lies. **How many is that**
# in the middle, at an edge, in a corner?

# %%
counts = col2im(np.ones((1, 9, 49)), shape=(1, 1, 7, 7), kernel=(3, 3), padding=(1, 1))[0, 0]  # (7, 7)
assert (counts[3, 3], counts[0, 3], counts[0, 0]) == (9, 6, 4)

figure, ax = plt.subplots(figsize=(3.6, 3.4), layout="constrained")
ax.imshow(counts, cmap="Oranges", vmin=0, vmax=14)
ax.set(title="windows over a point", xlabel="column", ylabel="row")
for (row, col), value in np.ndenumerate(counts):
    ax.text(col, row, f"{value:.0f}", ha="center", va="center", color="0.2")

# %% [markdown]
# A stone in a corner is seen less often than one in the middle, so it moves the weights less.
#
# ## The layer
#
# `Conv2D` is the fast form with both directions. It must agree with the loops, for any input and any slope:

# %%
rng = np.random.default_rng(1)
layer = Conv2D(2, 4, kernel=3, rng=rng, dtype=np.float64)
some_x, some_d_out = rng.standard_normal((3, 2, 7, 6)), rng.standard_normal((3, 4, 7, 6))
ours = layer.forward(some_x), layer.backward(some_d_out), layer.weight.grad, layer.bias.grad
slopes = convolve_backward_by_definition(some_d_out, some_x, layer.weight.value, (1, 1))
theirs = convolve_by_definition(some_x, layer.weight.value, layer.bias.value, (1, 1)), *slopes
for name, mine, wanted in zip(["out", "d_x", "d_weight", "d_bias"], ours, theirs):
    assert np.allclose(mine, wanted, rtol=1e-12, atol=1e-12)
    print(f"{name:9} {mine.shape!s:14} agrees")

# %% [markdown]
# ## A kernel that learns
#
# Now nobody gives the kernel. We show random boards and what the row kernel makes of them, and step against the slope.
#
# $$\text{loss} = \frac{1}{\text{count}} \sum (\text{out} - \text{target})^2, \qquad
# \text{weight} \leftarrow \text{weight} - \eta \cdot d\_\text{weight}$$
#
# **What will the nine weights become?** (The loss is 0 for one kernel only.)

# %%
student = Conv2D(1, 1, kernel=3, rng=np.random.default_rng(2), dtype=np.float64)
before = student.weight.value[0, 0].copy()
optimizer = SGD(student.parameters(), learning_rate=0.5)
boards = (rng.random((64, 1, 7, 7)) < 0.3).astype(np.float64)  # (N, 1, H, W), three points in ten taken
targets = convolve_by_definition(boards, kernel[None, None], np.zeros(1), (1, 1))
losses = []
for _ in range(80):
    loss, d_out = squared_error(student.forward(boards), targets)
    optimizer.zero_grad()
    student.backward(d_out)
    optimizer.step()
    losses.append(loss)
after = student.weight.value[0, 0]
assert np.abs(after - kernel).max() < 0.05

figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.4), layout="constrained")
axes[0].semilogy(losses, color="#0072B2")
axes[0].set(xlabel="step", ylabel="loss", title="learning")
axes[0].grid(alpha=0.3)
for ax, picture, name in zip(axes[1:], [before, after], ["weights at first", "after 80 steps"]):
    ax.imshow(picture, cmap="PuOr", vmin=-1.5, vmax=1.5)
    ax.set(title=name, xlabel="window column", ylabel="window row", xticks=range(3), yticks=range(3))
    for (row, col), value in np.ndenumerate(picture):
        ax.text(col, row, f"{round(value, 2) + 0:.2f}", ha="center", va="center", color="0.1")

# %% [markdown]
# It found the row kernel. A policy network learns its kernels in the same way, only that its targets are not given: they
# come from who won the game. First, though, lesson 02: how do we know that `backward` is right?
