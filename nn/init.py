"""Starting weights: how large the random numbers are that a layer begins with.

Too small and the signal dies on its way through the layers, too large and it explodes; He's rule keeps its size.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray


class NormalSource(Protocol):
    """Whatever draws standard normal numbers: ``np.random.Generator`` or ``nn.java_random.JavaRandom``."""

    def standard_normal(self, size: tuple[int, ...]) -> NDArray[np.float64]:
        """Return an array of the given shape, filled in C order."""
        ...


def he_normal(shape: tuple[int, ...], fan_in: int, rng: NormalSource, dtype: DTypeLike) -> NDArray[Any]:
    """Draw weights of the given shape: ``normal * sqrt(2 / fan_in)``.

    ``fan_in`` counts the inputs that one output adds up: D for a dense layer, C * KH * KW for a convolution.
    A ReLU throws away half of its input's variance, hence the 2. The product is taken in float64 and rounded
    to ``dtype`` once.

    Source: He, Zhang, Ren, Sun, "Delving deep into rectifiers" (2015), equation 10.
    """
    weights: NDArray[Any] = rng.standard_normal(shape) * np.sqrt(2.0 / fan_in)
    return weights.astype(dtype, copy=False)
