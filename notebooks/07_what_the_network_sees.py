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
# # What the network sees
#
# A trained policy, opened up: its kernels, what they answer to on a board, which stones a decision hangs on, and how large
# the slopes are that flow back through the layers.
#
# The policy plays four in a row on 6 x 6. How it was made stands in `notebooks/data/README.md`; put `policy.npz` of a run of
# your own in its place and look at that, if its network is a `PolicyNet` as the quick preset's is. (The networks of the
# full board read lines instead of windows, see `nn/line_policy_net.py`.)

# %%
import numpy as np
from matplotlib import pyplot as plt

from env import Board, Lockstep
from env.coords import cell_name, parse_cell
from env.observation import planes
from nn import Conv2D, PolicyNet, ReLU, Sequential
from nn.conv import im2col
from nn.losses import masked_log_softmax, weighted_cross_entropy
from nn.optim import Adam, zero_grad
from rl.agents.greedy import GreedyAgent
from rl.agents.random import RandomAgent

BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
net = PolicyNet.load("data/quick_policy.npz", dtype=np.float64)
untrained = PolicyNet(6, 6, filters=net.filters, hidden=net.hidden, rng=np.random.default_rng(1), dtype=np.float64)
for parameter in net.parameters():
    print(f"{parameter.name:13} {parameter.value.shape!s:16} {parameter.value.size:7,}")

# %% [markdown]
# ## A position and an opinion
#
# Black, to move, has three in a row. **Where will the network want to play?**

# %%
board = Board.from_moves([parse_cell(name, 6, 6) for name in "c3 c5 d3 d5 e3 b2".split()], 6, 6, 4)
x, legal = planes(board)[None].astype(np.float64), board.legal_mask()[None]  # (1, 2, 6, 6), (1, 36)
chances = {
    name: np.exp(masked_log_softmax(one.predict(x), legal))[0].reshape(6, 6)
    for name, one in (("untrained", untrained), ("trained", net))
}
wins = [parse_cell(name, 6, 6) for name in ("b3", "f3")]

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.9), layout="constrained")
for ax, (name, p) in zip(axes, chances.items()):
    image = ax.imshow(p, cmap="Purples", vmin=0, vmax=1)
    for colour, face in ((1, "0.1"), (-1, "0.95")):
        rows, cols = np.nonzero(board.cells == colour)
        ax.scatter(cols, rows, s=330, color=face, edgecolors="0.2")
    for row, col in np.argwhere(p > 0.02):
        ink = "white" if p[row, col] > 0.5 else "0.1"
        ax.text(col, row, f"{100 * p[row, col]:.0f}", ha="center", va="center", color=ink)
    ax.set(title=name, xlabel="column", ylabel="row", xticks=range(6), yticks=range(6))
    ax.set_xticklabels("abcdef")
    ax.set_yticklabels(range(6, 0, -1))
figure.colorbar(image, ax=axes, label="probability (numbers: percent)")
won = {name: p.ravel()[wins].sum() for name, p in chances.items()}
print("on the two winning cells: " + ", ".join(f"{name} {share:.0%}" for name, share in won.items()))
assert won["trained"] > 0.5 > won["untrained"]

# %% [markdown]
# ## The kernels of the first layer
#
# Each of the 16 kernels is a 3 x 3 window over two planes: own stones above, the other's below. Purple counts for it,
# brown against.
#
# **What would you expect** of the two halves of one kernel? Something that looks for *my* lines should mind *their* stones.

# %%
kernels = net.conv1.weight.value  # (F, C, KH, KW) = (16, 2, 3, 3)
largest = np.abs(kernels).max()
figure, axes = plt.subplots(4, 8, figsize=(10, 5.2), layout="constrained")
for f in range(16):
    for plane in range(2):
        ax = axes[2 * (f // 8) + plane, f % 8]
        ax.imshow(kernels[f, plane], cmap="PuOr", vmin=-largest, vmax=largest)
        ax.set(xticks=[], yticks=[])
    axes[2 * (f // 8), f % 8].set_title(f"kernel {f}", fontsize=9)
for row in range(4):
    axes[row, 0].set_ylabel("own" if row % 2 == 0 else "the other's", fontsize=9)

alike = {
    name: np.array([np.corrcoef(k[0].ravel(), k[1].ravel())[0, 1] for k in one.conv1.weight.value])
    for name, one in (("untrained", untrained), ("trained", net))
}
for name, values in alike.items():
    reach = f"mean {values.mean():+.2f}, from {values.min():+.2f} to {values.max():+.2f}"
    print(f"{name:9} correlation of a kernel's two halves: {reach}")
assert alike["trained"].mean() < min(0, alike["untrained"].mean())

# %% [markdown]
# Opposite, in the mean, though nobody told the network that the two planes are opponents. But the kernels are not as tidy
# as one would draw them. Nobody asked for tidy kernels: any set of sixteen that tells the later layers
# what they need will do.
#
# ## What they answer to
#
# The first layer's output for the position above, after the ReLU: sixteen maps of 6 x 6.

# %%
maps = np.maximum(net.conv1.predict(x), 0)[0]  # (F, H, W) = (16, 6, 6)
figure, axes = plt.subplots(2, 8, figsize=(10, 3), layout="constrained")
for f, ax in enumerate(axes.ravel()):
    image = ax.imshow(maps[f], cmap="Blues", vmin=0, vmax=maps.max())
    ax.scatter(*np.nonzero(board.cells == 1)[::-1], s=10, color="0.1")
    ax.scatter(*np.nonzero(board.cells == -1)[::-1], s=10, facecolors="white", edgecolors="0.1")
    ax.set(xticks=[], yticks=[])
    ax.set_title(f"kernel {f}", fontsize=9)
figure.colorbar(image, ax=axes, label="activation");

# %% [markdown]
# Better to ask each kernel what it likes best. We take 3,000 positions from quick games and look for the 3 x 3 window with
# the largest answer. **What should a kernel's favourite look like?** A window holds zeros and ones only, so the answer can
# be no larger than the sum of the positive weights.

# %%
rng = np.random.default_rng(2)
games, seen = Lockstep(250, 6, 6, 4), []
while not games.over.all():
    running = np.flatnonzero(~games.over)
    positions = games.positions(running)
    seen.append(positions)
    agent = GreedyAgent() if len(seen) % 3 == 0 else RandomAgent()
    games.play(agent.choose_positions(positions, rng), running)
many = np.concatenate([positions.planes for positions in seen])[:3000].astype(np.float64)  # (N, 2, 6, 6)
many_legal = np.concatenate([positions.legal for positions in seen])[:3000]  # (N, 36)

windows = im2col(many, (3, 3), (1, 1)).transpose(0, 2, 1).reshape(-1, 18)  # (N * 36, 18): what is seen at every place
answers = windows @ kernels.reshape(16, 18).T + net.conv1.bias.value  # (N * 36, 16)
favourites = windows[answers.argmax(axis=0)].reshape(16, 2, 3, 3)
bound = np.maximum(kernels, 0).sum(axis=(1, 2, 3)) + net.conv1.bias.value  # (16,)
assert np.all(answers.max(axis=0) <= bound + 1e-9)

figure, axes = plt.subplots(2, 8, figsize=(10, 2.9), layout="constrained")
for f, ax in enumerate(axes.ravel()):
    ax.imshow(favourites[f, 0] - favourites[f, 1], cmap="PuOr", vmin=-1.4, vmax=1.4)
    ax.set(xticks=[], yticks=[])
    ax.set_title(f"kernel {f}", fontsize=9)
figure.suptitle("favourite windows: purple own stones, brown the other's", fontsize=10);

# %% [markdown]
# A kernel that answers to nothing is dead: its ReLU is never open, no slope passes, it will never learn again. How often is
# each one open?

# %%
layers, open_share, out = net.layers, {}, many[:500]
for layer, name in zip(layers[:7], ("", "conv1", "", "conv2", "", "", "fc1")):
    out = layer.predict(out)
    if isinstance(layer, ReLU):
        axis = (0, 2, 3) if out.ndim == 4 else 0
        open_share[name] = np.sort((out > 0).mean(axis=axis))  # one share a kernel or feature

figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
for (name, shares), colour in zip(open_share.items(), (BLUE, ORANGE, GREEN)):
    ax.plot(np.linspace(0, 1, len(shares)), shares, color=colour, marker=".", label=f"{name} ({len(shares)})")
    print(f"{name}: {int((shares == 0).sum())} of {len(shares)} never open")
ax.set(xlabel="kernels or features, sorted (share of all)", ylabel="share of places where it is open", ylim=(-0.02, 1.02))
ax.grid(alpha=0.3)
ax.legend(fontsize="small")
assert all(shares.max() > 0 for shares in open_share.values())

# %% [markdown]
# ## Which stones does the decision hang on?
#
# Backward goes all the way to the board: `d_x` is the slope of log p of the best move by every entry of the input. Compare
# with the experiment: take the stone away and see how much log p really falls.

# %%
best = int(np.exp(masked_log_softmax(net.predict(x), legal))[0].argmax())
_, d_logits = weighted_cross_entropy(net.forward(x), np.array([best]), np.ones(1), legal)
d_x = -net.backward(d_logits)[0]  # (2, 6, 6): slope of +log p
falls = np.zeros((6, 6))
for plane, row, col in np.argwhere(x[0]):
    without = x.copy()
    without[0, plane, row, col] = 0
    with_it, without_it = (masked_log_softmax(net.predict(board_seen), legal)[0, best] for board_seen in (x, without))
    falls[row, col] = with_it - without_it
slopes = (d_x * x[0]).sum(axis=0)  # (6, 6)

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.7), layout="constrained")
for ax, picture, name in zip(axes, (slopes, falls), ("slope", "what happens without the stone")):
    reach = np.abs(picture).max()
    image = ax.imshow(picture, cmap="PuOr", vmin=-reach, vmax=reach)
    for row, col in np.argwhere(board.cells):
        ink = "white" if abs(picture[row, col]) > 0.6 * reach else "0.1"
        ax.text(col, row, f"{picture[row, col]:+.1f}", ha="center", va="center", color=ink)
    ax.set(title=name, xlabel="column", ylabel="row", xticks=range(6), yticks=range(6))
    ax.set_xticklabels("abcdef")
    ax.set_yticklabels(range(6, 0, -1))
figure.suptitle(f"log p({cell_name(best, 6, 6)}) hangs on these stones", fontsize=10)
own = falls[board.cells == 1].mean()
print(f"without one of the three own stones log p falls by {own:.1f} in the mean")
assert own > 0

# %% [markdown]
# The slope is a straight line laid on a bent curve: right for a small nudge, and a stone is no small nudge. The signs
# often agree, the sizes need not.
#
# ## How the slopes flow
#
# Ten convolutions in a row, with their ReLUs. He's rule starts the weights at sqrt(2 / inputs), which is meant to keep a
# signal's size. **What happens with weights half as large, after ten layers?** And twice as large?

# %%
deep_x = rng.standard_normal((4, 8, 10, 10))  # (N, C, H, W)
sizes = {}
for factor in (0.5, 1.0, 2.0):
    start = np.random.default_rng(3)
    convs = [Conv2D(8, 8, 3, rng=start, dtype=np.float64) for _ in range(10)]
    for conv in convs:
        conv.weight.value *= factor
    deep = Sequential([layer for conv in convs for layer in (conv, ReLU())])
    out, forward = deep_x, [1.0]
    for layer in deep.layers:
        out = layer.forward(out)
        if isinstance(layer, ReLU):
            forward.append(float(np.sqrt((out**2).mean())))
    slope, backward = rng.standard_normal(out.shape), []
    for layer in reversed(deep.layers):
        slope = layer.backward(slope)
        if isinstance(layer, Conv2D):
            backward.append(float(np.sqrt((slope**2).mean())))
    sizes[factor] = np.array(forward), np.array(backward[::-1])

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for (factor, (forward, backward)), colour in zip(sizes.items(), (ORANGE, BLUE, VERMILION)):
    left.semilogy(forward, color=colour, marker="o", label=f"He's rule times {factor:g}")
    right.semilogy(backward, color=colour, marker="o", label=f"He's rule times {factor:g}")
left.set(xlabel="after layer", ylabel="size of the signal", title="forward")
right.set(xlabel="before layer", ylabel="size of the slope", title="backward (from right to left)")
for ax in (left, right):
    ax.grid(alpha=0.3)
left.legend(fontsize="small")
for factor in (0.5, 2.0):
    ratio = sizes[factor][0][-1] / sizes[1.0][0][-1]
    print(f"weights times {factor:g}: the signal is {ratio:.3g} times as large after ten layers; {factor:g}^10 = {factor**10:.3g}")
    assert np.isclose(ratio, factor**10)  # a ReLU passes a factor on, and biases are 0

# %% [markdown]
# Exactly the tenth power. That is why the start matters, and more the deeper a network is.
#
# ## A step, layer by layer
#
# Last, one step of Adam on the trained policy, imitating greedy on 256 of the positions. How long is each layer's gradient,
# and how large its step compared with its weights? A rule of thumb says about 1/1000.

# %%
pick = rng.permutation(3000)[:256]
greedy_moves = np.concatenate([GreedyAgent().choose_positions(positions, rng) for positions in seen])[:3000][pick]
_, d_logits = weighted_cross_entropy(net.forward(many[pick]), greedy_moves, np.ones(256), many_legal[pick])
zero_grad(net.parameters())
net.backward(d_logits)
weights = [parameter for parameter in net.parameters() if parameter.name.endswith("weight")]
gradients = [np.linalg.norm(parameter.grad) for parameter in weights]
before = [parameter.value.copy() for parameter in weights]
Adam(net.parameters(), learning_rate=5e-4).step()
ratios = [np.linalg.norm(p.value - old) / np.linalg.norm(old) for p, old in zip(weights, before)]
assert all(1e-5 < ratio < 1e-1 for ratio in ratios)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
names = [parameter.name.removesuffix(".weight") for parameter in weights]
left.bar(names, gradients, color=BLUE)
left.set(ylabel="length of the gradient", xlabel="layer")
right.bar(names, ratios, color=ORANGE)
right.axhline(1e-3, color="0.4", linestyle=":")
right.set(ylabel="step / weights", yscale="log", xlabel="layer (dotted: 1/1000)", ylim=(1e-4, 1e-1))
for ax in (left, right):
    ax.grid(axis="y", alpha=0.3)

# %% [markdown]
# Adam gives every single weight a step of about the learning rate, however short its gradient is. So the layers with the
# smallest weights move most, in proportion. During training these numbers stand in `metrics.jsonl` (`gradient_norm`,
# `parameter_change`), and lesson 06 draws them.
