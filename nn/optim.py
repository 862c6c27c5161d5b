"""From gradients to a step: SGD with momentum, Adam, a falling learning rate, and a limit on the gradient's length.

Steps change ``Parameter.value`` in place, so layers and optimiser always hold the same arrays.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nn.layers import FloatArray, NonFiniteError, Parameter, ShapeError
from nn.weights import check_array, check_names

State = dict[str, NDArray[Any]]
PIECE = 1 << 16  # entries updated at once: the five arrays of Adam then stay in the cache


class LearningRateError(ValueError):
    """A learning rate that is no step: NaN, infinite or negative."""


class SGD:
    """Stochastic gradient descent with momentum: ``v = momentum * v + grad``, ``value -= learning_rate * v``.

    With momentum 0 it is the plain step against the gradient.

    Source: Sutskever et al., "On the importance of initialization and momentum in deep learning" (2013), section 2.
    """

    def __init__(self, parameters: Sequence[Parameter], learning_rate: float, momentum: float = 0.0) -> None:
        self.parameters, self.learning_rate, self.momentum = list(parameters), _rate(learning_rate), momentum
        self._velocities = [np.zeros_like(parameter.value) for parameter in self.parameters]

    def zero_grad(self) -> None:
        """Set all gradients to 0."""
        zero_grad(self.parameters)

    def step(self) -> None:
        """Move every value one step."""
        for parameter, velocity in zip(self.parameters, self._velocities, strict=True):
            velocity *= self.momentum
            velocity += parameter.grad
            parameter.value -= self.learning_rate * velocity

    def state(self) -> State:
        """Return copies of everything a later step depends on: the learning rate and a velocity per parameter."""
        return {"learning_rate": np.array(self.learning_rate), **_named("velocity", self.parameters, self._velocities)}

    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from ``state()``. Raises WeightsError, changing nothing, if it is another optimiser's."""
        _check_state("SGD", state, self.state())
        self.learning_rate = float(state["learning_rate"])
        _fill("velocity", self.parameters, self._velocities, state)


class Adam:
    """Steps of about the same length in every direction: the mean gradient over its root mean square.

        m = b1 * m + (1 - b1) * grad          m' = m / (1 - b1^t)      the mean, then corrected for its start at 0
        v = b2 * v + (1 - b2) * grad^2        v' = v / (1 - b2^t)      likewise the mean square
        value -= learning_rate * m' / (sqrt(v') + eps)

    Source: Kingma and Ba, "Adam: a method for stochastic optimization" (2015), algorithm 1.
    """

    def __init__(
        self,
        parameters: Sequence[Parameter],
        learning_rate: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        self.parameters, self.learning_rate, self.betas, self.eps = list(parameters), _rate(learning_rate), betas, eps
        self._steps = 0
        self._means = [np.zeros_like(parameter.value) for parameter in self.parameters]
        self._squares = [np.zeros_like(parameter.value) for parameter in self.parameters]

    def zero_grad(self) -> None:
        """Set all gradients to 0."""
        zero_grad(self.parameters)

    def step_by_definition(self) -> None:
        """Move every value one step, as the formulas above say it."""
        self._steps += 1
        beta1, beta2 = self.betas
        for parameter, mean, square in zip(self.parameters, self._means, self._squares, strict=True):
            mean[...] = beta1 * mean + (1 - beta1) * parameter.grad
            square[...] = beta2 * square + (1 - beta2) * parameter.grad**2
            corrected_mean = mean / (1 - beta1**self._steps)
            corrected_square = square / (1 - beta2**self._steps)
            parameter.value -= self.learning_rate * corrected_mean / (np.sqrt(corrected_square) + self.eps)

    def step(self) -> None:
        """Do the same to rounding, a piece at a time and without making new arrays.

        The two corrections are single numbers and go into the step's length and into eps:
        ``m' / (sqrt(v') + eps) = (m / (sqrt(v) + eps * c2)) * (c2 / c1)`` with c1 = 1 - b1^t, c2 = sqrt(1 - b2^t).
        """
        self._steps += 1
        beta1, beta2 = self.betas
        correction1, correction2 = 1 - beta1**self._steps, float(np.sqrt(1 - beta2**self._steps))
        length = self.learning_rate * correction2 / correction1
        for parameter, means, squares in zip(self.parameters, self._means, self._squares, strict=True):
            for value, grad, mean, square in _pieces(parameter.value, parameter.grad, means, squares):
                step = grad * (1 - beta1)
                mean *= beta1
                mean += step
                np.multiply(grad, grad, out=step)
                step *= 1 - beta2
                square *= beta2
                square += step
                np.sqrt(square, out=step)
                step += self.eps * correction2
                np.divide(mean, step, out=step)
                step *= length
                value -= step

    def state(self) -> State:
        """Return copies of everything a later step depends on: learning rate, step count, two means a parameter."""
        return {
            "learning_rate": np.array(self.learning_rate),
            "steps": np.array(self._steps),
            **_named("mean", self.parameters, self._means),
            **_named("square", self.parameters, self._squares),
        }

    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from ``state()``. Raises WeightsError, changing nothing, if it is another optimiser's."""
        _check_state("Adam", state, self.state())
        self.learning_rate, self._steps = float(state["learning_rate"]), int(state["steps"])
        _fill("mean", self.parameters, self._means, state)
        _fill("square", self.parameters, self._squares, state)


def _rate(learning_rate: float) -> float:
    """Return the rate, if a step can be that long."""
    if not 0 <= learning_rate < np.inf:
        raise LearningRateError(f"the learning rate is {learning_rate}; wanted a finite number, 0 or more")
    return learning_rate


class Optimizer(Protocol):
    """What StepLR needs of an optimiser: a learning rate that can be set."""

    learning_rate: float


class StepLR:
    """Multiply the optimiser's learning rate by ``factor`` after every ``step_size`` calls of ``step``."""

    def __init__(self, optimizer: Optimizer, step_size: int, factor: float) -> None:
        self.optimizer, self.step_size, self.factor = optimizer, step_size, factor
        self._calls = 0

    def step(self) -> None:
        """Count one epoch (or whatever the caller counts)."""
        self._calls += 1
        if self._calls % self.step_size == 0:
            self.optimizer.learning_rate *= self.factor

    def state(self) -> State:
        """Return the number of calls so far; the learning rate itself is in the optimiser's state."""
        return {"calls": np.array(self._calls)}

    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from ``state()``. Raises WeightsError, changing nothing, if it is something else's."""
        _check_state("StepLR", state, self.state())
        self._calls = int(state["calls"])


def zero_grad(parameters: Sequence[Parameter]) -> None:
    """Set the gradients of all parameters to 0."""
    for parameter in parameters:
        parameter.grad.fill(0)


def clip_gradients(parameters: Sequence[Parameter], max_norm: float) -> float:
    """Scale all gradients together so that their common length is at most ``max_norm``; return it as it was before.

    The length is the root of the sum of all squares over all parameters, so the direction stays the same.
    Raises NonFiniteError, naming the parameter, if a gradient is NaN or infinite.
    """
    lengths = [float(np.linalg.norm(parameter.grad)) for parameter in parameters]
    norm = float(np.linalg.norm(lengths))
    if not np.isfinite(norm):
        worst = [p.name for p, length in zip(parameters, lengths, strict=True) if not np.isfinite(length)]
        raise NonFiniteError(f"the gradient of {', '.join(worst)} is not finite")
    if norm > max_norm:
        for parameter in parameters:
            parameter.grad *= max_norm / norm
    return norm


def _pieces(*arrays: FloatArray) -> Iterator[list[FloatArray]]:
    """Cut arrays of one shape into pieces of PIECE entries, views (n,), as they lie in memory, all of them alike.

    Raises ShapeError if they lie in memory in different orders, or with gaps.
    """
    if not all(array.flags.forc and array.strides == arrays[0].strides for array in arrays):
        layouts = [(array.shape, array.strides) for array in arrays]
        raise ShapeError(f"a value, its gradient and its means lie in memory differently: (shape, strides) {layouts}")
    flat = [array.ravel(order="K") for array in arrays]
    return ([entries[first : first + PIECE] for entries in flat] for first in range(0, flat[0].size, PIECE))


def _named(word: str, parameters: Sequence[Parameter], arrays: Sequence[FloatArray]) -> State:
    """Name one array per parameter; the number tells apart parameters of the same name."""
    return {f"{word}.{i}.{p.name}": a.copy() for i, (p, a) in enumerate(zip(parameters, arrays, strict=True))}


def _check_state(who: str, state: Mapping[str, NDArray[Any]], mine: State) -> None:
    check_names(f"state of {who}", state, list(mine))
    for name, array in mine.items():
        check_array(f"state of {who}", name, np.asarray(state[name]), array.shape, array.dtype)


def _fill(
    word: str, parameters: Sequence[Parameter], arrays: Sequence[FloatArray], state: Mapping[str, NDArray[Any]]
) -> None:
    for name, array in zip(_named(word, parameters, arrays), arrays, strict=True):
        array[...] = state[name]
