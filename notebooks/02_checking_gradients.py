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
# # Checking gradients, and breaking a layer on purpose
#
# `backward` is a claim: "if you nudge this number, the loss moves by so much". A claim can be tested. Nudge the number,
# look how far the loss moves, compare.
#
# It is worth the trouble. A network with a wrong gradient does not crash. It learns, a little worse, and nobody knows why.
# We will see that happen. The code is `nn/gradcheck.py`.

# %%
from functools import partial

import numpy as np
from matplotlib import pyplot as plt

from nn import Conv2D, Dense, Flatten, PolicyNet, ReLU, Sequential, Tanh
from nn.gradcheck import GradientError, check_layer, check_loss, compare_gradients, random_slope
from nn.losses import entropy, squared_error, weighted_cross_entropy
from nn.optim import Adam

BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
rng = np.random.default_rng(2)

# %% [markdown]
# ## The slope of one function
#
# The slope of tanh is known: 1 - tanh². Here are three ways to get it from differences, with a nudge h:
#
# $$\frac{f(x+h) - f(x)}{h} \quad \frac{f(x+h) - f(x-h)}{2h} \quad
# \frac{8\,(f(x+h) - f(x-h)) - (f(x+2h) - f(x-2h))}{12h}$$
#
# **Which h is the best?** The smaller the better?

# %%
x, h = 0.7, np.logspace(-14, 0, 113)  # h (113,)
slope = 1 - np.tanh(x) ** 2
near, far = np.tanh(x + h) - np.tanh(x - h), np.tanh(x + 2 * h) - np.tanh(x - 2 * h)
one_sided = np.abs((np.tanh(x + h) - np.tanh(x)) / h - slope) / slope
two_sided = np.abs(near / (2 * h) - slope) / slope
four_point = np.abs((8 * near - far) / (12 * h) - slope) / slope

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for error, name, colour in [
    (one_sided, "one-sided", VERMILION), (two_sided, "two-sided", ORANGE), (four_point, "four points", BLUE)
]:
    ax.loglog(h, error + 1e-17, color=colour, label=name)
ax.axvline(1e-3, color="0.6", linestyle=":", linewidth=1)
ax.set(xlabel="nudge h", ylabel="relative error of the slope", ylim=(1e-15, 10))
ax.grid(alpha=0.3)
ax.legend(title="dotted: h = 0.001");

# %% [markdown]
# No. Two errors pull in opposite directions. A large h bends away from the tangent: that error falls as h, h², h⁴. A small
# h takes the difference of two nearly equal numbers, and what is left of the 16 digits is noise divided by h.
#
# With four points and h = 0.001 we keep about twelve digits. That is what the library takes.

# %%
at = np.abs(h - 1e-3).argmin()
assert four_point[at] < 1e-11 < two_sided[at] < one_sided[at]
assert one_sided.min() > 1e-10  # no h at all makes the one-sided one as good
print(f"h = 0.001:  one-sided {one_sided[at]:.0e}   two-sided {two_sided[at]:.0e}   four points {four_point[at]:.0e}")

# %% [markdown]
# ## One weight of a convolution
#
# To get one number out of a layer we weigh its outputs with random `d_out` and add up: loss = sum(out * d_out). The slope
# of that loss by `out` is `d_out`, so `backward(d_out)` must give the slope by everything else.

# %%
layer = Conv2D(2, 3, kernel=3, rng=rng, dtype=np.float64)
x = rng.standard_normal((2, 2, 5, 4))  # (N, C, H, W): no two sizes alike, so that no mix-up of axes goes unseen
d_out = rng.standard_normal((2, 3, 5, 4))  # (N, F, OH, OW)
layer.forward(x)
layer.backward(d_out)
by_hand = layer.weight.grad[1, 0, 2, 0]

nudge = 1e-3
losses = []
for step in (2, 1, -1, -2):
    layer.weight.value[1, 0, 2, 0] += step * nudge
    losses.append((layer.predict(x) * d_out).sum())
    layer.weight.value[1, 0, 2, 0] -= step * nudge
by_differences = (8 * (losses[1] - losses[2]) - (losses[0] - losses[3])) / (12 * nudge)
print(f"by hand {by_hand:.10f}   by differences {by_differences:.10f}")
assert abs(by_hand - by_differences) < 1e-9

# %% [markdown]
# ## Every weight, every input, every layer
#
# `check_layer` does that for all parameters and all inputs of a layer, and returns the largest relative error.
# `check_loss` does it for a loss. **How large will the errors be?** Floating point has 16 digits, the differences keep
# about twelve. (For the whole network the nudge is smaller. The end of the lesson says why.)

# %%
board = rng.standard_normal((1, 2, 4, 5))  # (N, C, H, W)
vectors = rng.standard_normal((3, 6))  # (N, D)
net = PolicyNet(4, 5, filters=(3, 4), hidden=7, rng=rng, dtype=np.float64)
errors = {
    "Dense": check_layer(Dense(6, 4, rng=rng, dtype=np.float64), vectors, random_slope(rng, (3, 4))),
    "ReLU": check_layer(ReLU(), vectors, random_slope(rng, (3, 6))),
    "Tanh": check_layer(Tanh(), vectors, random_slope(rng, (3, 6))),
    "Flatten": check_layer(Flatten(), board, random_slope(rng, (1, 40))),
    "Conv2D": check_layer(Conv2D(2, 3, rng=rng, dtype=np.float64), board, random_slope(rng, (1, 3, 4, 5))),
    "a whole PolicyNet": check_layer(net, board, random_slope(rng, (1, 20)), step=1e-5),
}
legal = rng.random((3, 6)) < 0.7  # (N, A)
legal[:, 0] = True
moves, weights = np.zeros(3, dtype=int), np.array([1.0, -0.5, 2.0])
policy_loss = partial(weighted_cross_entropy, actions=moves, weights=weights, mask=legal)
errors["weighted cross-entropy"] = check_loss("cross-entropy", policy_loss, vectors)
errors["entropy"] = check_loss("entropy", partial(entropy, mask=legal), vectors)
assert max(errors.values()) < 1e-7

figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
ax.barh(list(errors), np.maximum(list(errors.values()), 1e-15), color=BLUE)
ax.axvline(1e-7, color=VERMILION, linestyle="--", linewidth=1.2)
ax.set(xscale="log", xlabel="largest relative error (dashed: what is allowed)", xlim=(1e-15, 1e-5))
ax.invert_yaxis()
ax.grid(axis="x", alpha=0.3)

# %% [markdown]
# ## A check that cannot fail checks nothing
#
# So let us break things. First a mistake in a formula: in a dense layer `d_x = d_out @ weight.T`, and the `.T` was
# forgotten. With a square weight the shapes fit, so Python does not complain. **Will the check?**

# %%
square = Dense(4, 4, rng=rng, dtype=np.float64)
x, d_out = rng.standard_normal((2, 4)), rng.standard_normal((2, 4))
right, wrong = d_out @ square.weight.value.T, d_out @ square.weight.value
assert right.shape == wrong.shape
try:
    compare_gradients("d_x without .T", wrong, right, tolerance=1e-7)
except GradientError as error:
    print(error)
    found = True
assert found

# %% [markdown]
# It names the worst entry and both of its values.
#
# Now a layer in the middle of a network. Backward through a ReLU must stop the slope wherever the input was negative.
# We make one that lets everything through (`np.positive` returns what it is given):

# %%
layers = [Dense(6, 5, rng=rng, dtype=np.float64, name="first"), ReLU(), Dense(5, 3, rng=rng, dtype=np.float64)]
broken = Sequential(layers)
print(f"whole: largest error {check_layer(broken, vectors, random_slope(rng, (3, 3)), step=1e-5):.0e}")

broken.layers[1].backward = np.positive
message = ""
try:
    check_layer(broken, vectors, random_slope(rng, (3, 3)), step=1e-5)
except GradientError as error:
    message = str(error)
print("broken:", message)
assert "d_x" in message  # the slope by the input is wrong, since it came through the broken layer

# %% [markdown]
# ## A broken network learns all the same
#
# That is what makes such mistakes dangerous. Two networks start with equal weights and learn the same curve; one of them
# has the broken ReLU. **Will its loss fall?**

# %%
inputs = np.linspace(-3, 3, 61)[:, None]  # (N, D) = (61, 1)
targets = np.sin(2 * inputs)  # (N, M) = (61, 1)
curves, fits = {}, {}
for name in ("right", "broken"):
    start = np.random.default_rng(3)
    layers = [Dense(1, 32, rng=start, dtype=np.float64), ReLU(), Dense(32, 32, rng=start, dtype=np.float64), ReLU()]
    student = Sequential([*layers, Dense(32, 1, rng=start, dtype=np.float64)])
    if name == "broken":
        student.layers[1].backward = np.positive
    optimizer = Adam(student.parameters(), learning_rate=0.01)
    curves[name] = []
    for _ in range(400):
        loss, d_out = squared_error(student.forward(inputs), targets)
        optimizer.zero_grad()
        student.backward(d_out)
        optimizer.step()
        curves[name].append(loss)
    fits[name] = student.predict(inputs)

figure, (left, right_ax) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
right_ax.plot(inputs, targets, color="0.6", linewidth=5, label="what was asked for")
for name, colour in (("right", BLUE), ("broken", VERMILION)):
    left.semilogy(curves[name], color=colour, label=f"{name} backward")
    right_ax.plot(inputs, fits[name], color=colour, label=f"{name} backward")
left.set(xlabel="step", ylabel="loss")
right_ax.set(xlabel="input", ylabel="output", ylim=(-1.3, 2.2))
for ax in (left, right_ax):
    ax.grid(alpha=0.3)
    ax.legend(fontsize="small", loc="upper right")

# %%
for name, curve in curves.items():
    print(f"{name:7} loss {curve[0]:.2f} -> {curve[-1]:.4f}")
assert curves["broken"][-1] < 0.1 * curves["broken"][0]  # it does learn
assert curves["right"][-1] < 0.4 * curves["broken"][-1]  # but not well

# %% [markdown]
# The loss falls; without the blue curve to compare with, one would blame the learning rate. The check takes a second and
# leaves no doubt.
#
# ## When the check is wrong
#
# Differences have a blind spot: a kink. ReLU has one at 0. If a nudge carries an input across it, the difference mixes two
# slopes, and a right backward fails. **Which of these two inputs will fail?** The nudges reach 0.002 far.

# %%
for number in (0.5, 0.0005):
    try:
        check_layer(ReLU(), np.array([[number]]), random_slope(rng, (1, 1)))
        print(f"{number}: passes")
    except GradientError as error:
        print(f"{number}: {error}")
        kinked = number
assert kinked == 0.0005

# %% [markdown]
# So one checks at random inputs, which seldom lie so near a kink. A whole network has many kinks; there a nudge of
# 0.00001 pays for the rarer accident with a digit or two.
#
# The other blind spot is precision. In float32 only 7 digits are there to begin with, and no h saves enough of them; the
# library refuses:

# %%
h = np.float32(1e-3)
x = np.float32(0.7)
difference = (np.tanh(x + h) - np.tanh(x - h)) / (2 * h)
print(f"float32: relative error {abs(difference - slope) / slope:.0e}")
assert abs(difference - slope) / slope > 1e-7
message = ""
try:
    check_layer(Tanh(), np.ones((1, 1), dtype=np.float32), random_slope(rng, (1, 1)))
except GradientError as error:
    message = str(error)
print(message)
assert "float64" in message

# %% [markdown]
# `tests/test_nn_gradients.py` holds every layer and loss of this library to these checks, in odd shapes, with random
# slopes, and it also breaks them to see the check fail. If you write a layer of your own, begin there.
