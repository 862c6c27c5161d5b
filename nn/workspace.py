"""Memory that is asked for once and then shaped to whatever the moment needs.

The fast twins write their intermediate results here, where a fresh array each time would cost more than the sums.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Workspace:
    """One stretch of memory of a dtype. It grows to the largest array it has had to hold and never shrinks."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._memory: NDArray[Any] = np.empty(0, dtype)

    def shaped(self, *shape: int) -> NDArray[Any]:
        """Return an array of this shape with arbitrary contents; it is overwritten by whoever asks next."""
        size = math.prod(shape)
        if size > self._memory.size:
            self._memory = np.empty(size, self._memory.dtype)
        return self._memory[:size].reshape(shape)

    def memory(self) -> int:
        """Bytes held."""
        return self._memory.nbytes
