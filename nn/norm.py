"""Two layers that are one thing while a net learns and another when it is used: BatchNorm2D and Dropout.

Here learning calls ``forward`` and use calls ``predict``, so there is no mode to switch, and none to forget.

                    forward (learning)                         predict (use)
    BatchNorm2D     mean and variance of this batch            those gathered while learning
    Dropout         a random share of the numbers is 0         all numbers pass
"""

from typing import Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nn.layers import FloatArray, Layer, Parameter, ShapeError, check_numbers, check_slope, kept_by_forward


class UniformSource(Protocol):
    """Whatever draws uniform numbers in [0, 1): ``np.random.Generator`` or ``nn.java_random.JavaRandom``."""

    def random(self, size: tuple[int, ...]) -> NDArray[np.float64]:
        """Return an array of the given shape, filled in C order."""
        ...


class BatchNorm2D(Layer):
    """Every filter's numbers get mean 0 and variance 1, then a learnt size and a learnt middle.

        normal = (x - mean) / sqrt(variance + eps)        out = weight * normal + bias

    x, out (N, F, H, W); mean, variance, weight, bias (F,). Mean and variance are those of the batch, over N, H and
    W. Their running values, which predict uses, go a tenth (``momentum``) of the way to the batch's at each forward;
    the running variance is the unbiased one, sum of squares / (M - 1) with M = N * H * W.

    Source: Ioffe and Szegedy, "Batch normalization" (2015), algorithms 1 and 2.
    """

    def __init__(
        self,
        filters: int,
        *,
        momentum: float = 0.1,
        eps: float = 1e-5,
        dtype: DTypeLike = np.float32,
        name: str = "norm",
    ) -> None:
        self.name, self.momentum, self.eps = name, momentum, eps
        self.weight = Parameter(f"{name}.weight", np.ones(filters, dtype))  # (F,)
        self.bias = Parameter(f"{name}.bias", np.zeros(filters, dtype))  # (F,)
        self.running_mean: FloatArray = np.zeros(filters, dtype)
        self.running_variance: FloatArray = np.ones(filters, dtype)
        self._kept: tuple[FloatArray, FloatArray] | None = None  # normal (N, F, H, W), 1 / sqrt(variance + eps) (F,)

    def forward(self, x: FloatArray) -> FloatArray:
        """x (N, F, H, W) -> out, same shape, by the batch's own mean and variance; moves the running ones.

        Raises ShapeError for another shape, and for a batch of one number a filter, which has no variance.
        """
        self._check(x)
        count = x.size // len(self.bias.value)
        if count < 2:
            raise ShapeError(f"{self.name}: got x {x.shape}: a variance needs two numbers or more a filter")
        mean = x.mean(axis=(0, 2, 3))  # (F,)
        centred = x - _each(mean)
        variance = (centred * centred).mean(axis=(0, 2, 3))  # (F,)
        inverse = 1 / np.sqrt(variance + self.eps)  # (F,)
        normal = centred * _each(inverse)
        self.running_mean += self.momentum * (mean - self.running_mean)
        self.running_variance += self.momentum * (variance * (count / (count - 1)) - self.running_variance)
        self._kept = normal, inverse
        return normal * _each(self.weight.value) + _each(self.bias.value)

    def backward(self, d_out: FloatArray) -> FloatArray:
        """d_out (N, F, H, W) -> d_x, same shape.

        ``out = weight * normal + bias`` is a dense layer of one number, so d_bias is the sum of d_out, d_weight that
        of d_out * normal, and d_normal = weight * d_out. One x moves its own normal directly, and every normal of
        its filter through the mean and the variance. Put together, with means over N, H and W:

            d_x = (d_normal - mean(d_normal) - normal * mean(d_normal * normal)) / sqrt(variance + eps)

        The two means taken off say: adding the same to all x, or stretching all of them, changes nothing.
        """
        normal, inverse = kept_by_forward(self._kept)
        check_slope(self.name, d_out, normal.shape)
        self.weight.grad += (d_out * normal).sum(axis=(0, 2, 3))
        self.bias.grad += d_out.sum(axis=(0, 2, 3))
        d_normal = d_out * _each(self.weight.value)
        through_mean = _each(d_normal.mean(axis=(0, 2, 3)))
        through_variance = normal * _each((d_normal * normal).mean(axis=(0, 2, 3)))
        d_x: FloatArray = (d_normal - through_mean - through_variance) * _each(inverse)
        return d_x

    def predict(self, x: FloatArray) -> FloatArray:
        """x (N, F, H, W) -> out, same shape, by the running mean and variance, keeping nothing."""
        self._check(x)
        scale = self.weight.value / np.sqrt(self.running_variance + self.eps)  # (F,)
        return x * _each(scale) + _each(self.bias.value - self.running_mean * scale)

    def parameters(self) -> list[Parameter]:
        """Return [weight (F,), bias (F,)]."""
        return [self.weight, self.bias]

    def statistics(self) -> dict[str, FloatArray]:
        """Return the running mean and variance, (F,) each."""
        return {
            f"{self.name}.running_mean": self.running_mean,
            f"{self.name}.running_variance": self.running_variance,
        }

    def _check(self, x: FloatArray) -> None:
        if x.ndim != 4 or x.shape[1] != len(self.bias.value):
            raise ShapeError(f"{self.name}: got x {x.shape}, wanted (N, {len(self.bias.value)}, H, W)")
        check_numbers(self.name, "x", x)


class Dropout(Layer):
    """While learning, each number is 0 with probability ``share``, and the others grow by 1 / (1 - share).

    So the mean stays what it is, and no output can rely on a single input. Any shape. ``rng`` is asked for one
    uniform number an entry at each forward; predict lets everything pass and draws nothing.

    Source: Srivastava et al., "Dropout: a simple way to prevent neural networks from overfitting" (2014).
    """

    def __init__(self, share: float, rng: UniformSource) -> None:
        if not 0 <= share < 1:
            raise ValueError(f"Dropout: got a share of {share}, wanted 0 <= share < 1")
        self.share, self.rng = share, rng
        self._factors: FloatArray | None = None

    def forward(self, x: FloatArray) -> FloatArray:
        """x -> out, same shape: x times 0 or times 1 / (1 - share)."""
        check_numbers("Dropout", "x", x)
        stays = np.asarray(self.rng.random(x.shape)) >= self.share
        self._factors = stays.astype(x.dtype) / x.dtype.type(1 - self.share)
        return x * self._factors

    def backward(self, d_out: FloatArray) -> FloatArray:
        """d_out -> d_x, same shape: times what x was multiplied by."""
        factors = kept_by_forward(self._factors)
        check_slope("Dropout", d_out, factors.shape)
        return d_out * factors

    def predict(self, x: FloatArray) -> FloatArray:
        """Return x."""
        check_numbers("Dropout", "x", x)
        return x


def _each(values: FloatArray) -> FloatArray:
    """One number a filter (F,), shaped (F, 1, 1) to meet (N, F, H, W)."""
    return values[:, None, None]
