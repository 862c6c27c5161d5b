"""A way past: the layers inside learn only what is to be added to x, and a slope reaches the bottom of a deep net.

    x ----+---------------- layers ----------------+---- out = x + layers(x)
          |                                        |
          +----------------------------------------+
"""

import numpy as np
from numpy.typing import DTypeLike

from nn.conv import Conv2D
from nn.init import NormalSource
from nn.layers import FloatArray, Layer, Parameter, ReLU, ShapeError
from nn.network import Sequential
from nn.norm import BatchNorm2D


class Residual(Layer):
    """``out = x + inner(x)``; inner gives the shape that it takes.

    Source: He, Zhang, Ren, Sun, "Deep residual learning for image recognition" (2016).
    """

    def __init__(self, inner: Layer) -> None:
        self.inner = inner

    def forward(self, x: FloatArray) -> FloatArray:
        """x -> out, same shape."""
        return self._sum(x, self.inner.forward(x))

    def backward(self, d_out: FloatArray) -> FloatArray:
        """d_out -> d_x, same shape: x moves out directly, with slope 1, and through the layers inside."""
        return d_out + self.inner.backward(d_out)

    def predict(self, x: FloatArray) -> FloatArray:
        """x -> out, same shape, keeping nothing."""
        return self._sum(x, self.inner.predict(x))

    def parameters(self) -> list[Parameter]:
        """Return those of the layers inside."""
        return self.inner.parameters()

    def statistics(self) -> dict[str, FloatArray]:
        """Return those of the layers inside."""
        return self.inner.statistics()

    def _sum(self, x: FloatArray, added: FloatArray) -> FloatArray:
        if added.shape != x.shape:
            raise ShapeError(f"Residual: the layers inside make {added.shape} of x {x.shape}; wanted the same shape")
        return x + added


def conv_norm(
    planes: int, filters: int, kernel: int, *, rng: NormalSource, dtype: DTypeLike = np.float32, name: str
) -> list[Layer]:
    """Return a convolution, named conv``name``, and the normalisation of what it gives, named norm``name``."""
    return [
        Conv2D(planes, filters, kernel, rng=rng, dtype=dtype, name=f"conv{name}"),
        BatchNorm2D(filters, dtype=dtype, name=f"norm{name}"),
    ]


def residual_block(filters: int, *, rng: NormalSource, dtype: DTypeLike = np.float32, name: str) -> list[Layer]:
    """Return the block of that paper: ``ReLU(x + norm(conv(ReLU(norm(conv(x))))))`` over (N, filters, H, W)."""
    first = conv_norm(filters, filters, 3, rng=rng, dtype=dtype, name=f"{name}a")
    second = conv_norm(filters, filters, 3, rng=rng, dtype=dtype, name=f"{name}b")
    return [Residual(Sequential([*first, ReLU(), *second])), ReLU()]
