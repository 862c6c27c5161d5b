"""Several answers from one view: layers that look at the same x, and whose outputs stand side by side.

             +-- branch 0 --> (N, M0) --+
    x  ------+                          +-->  out (N, M0 + M1)
             +-- branch 1 --> (N, M1) --+
"""

from collections.abc import Sequence

import numpy as np

from nn.layers import FloatArray, Layer, Parameter, check_slope, kept_by_forward


class Branches(Layer):
    """All branches take the same x; each gives rows (N, Mi), and ``out`` (N, sum of Mi) has them in order."""

    def __init__(self, branches: Sequence[Layer]) -> None:
        self.branches = list(branches)
        self._shape: tuple[int, ...] | None = None  # of the last out
        self._ends: list[int] = []  # where the columns of each branch but the last end

    def forward(self, x: FloatArray) -> FloatArray:
        """x -> out (N, sum of Mi)."""
        outs = [branch.forward(x) for branch in self.branches]
        self._ends = [int(end) for end in np.cumsum([out.shape[1] for out in outs])[:-1]]
        out = np.concatenate(outs, axis=1)
        self._shape = out.shape
        return out

    def backward(self, d_out: FloatArray) -> FloatArray:
        """d_out (N, sum of Mi) -> d_x: each branch gets its own columns, and as x feeds them all, their d_x add up."""
        check_slope("Branches", d_out, kept_by_forward(self._shape))
        parts = np.split(d_out, self._ends, axis=1)
        d_x = self.branches[0].backward(parts[0])
        for branch, part in zip(self.branches[1:], parts[1:], strict=True):
            d_x = d_x + branch.backward(part)
        return d_x

    def predict(self, x: FloatArray) -> FloatArray:
        """x -> out (N, sum of Mi), keeping nothing."""
        return np.concatenate([branch.predict(x) for branch in self.branches], axis=1)

    def parameters(self) -> list[Parameter]:
        """Return the parameters of all branches, in order."""
        return [parameter for branch in self.branches for parameter in branch.parameters()]

    def statistics(self) -> dict[str, FloatArray]:
        """Return the statistics of all branches."""
        return {name: array for branch in self.branches for name, array in branch.statistics().items()}
