"""Layers one after the other: the output of each is the input of the next.

The chain rule is the same sentence read backwards: the d_x of each is the d_out of the one before.
"""

from collections.abc import Sequence

from nn.layers import FloatArray, Layer, Parameter


class Sequential(Layer):
    """A row of layers that is itself a layer; shapes are whatever the first takes and the last gives."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self.layers = list(layers)

    def forward(self, x: FloatArray) -> FloatArray:
        """x -> out, through all layers from first to last."""
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def backward(self, d_out: FloatArray) -> FloatArray:
        """d_out -> d_x, through all layers from last to first."""
        for layer in reversed(self.layers):
            d_out = layer.backward(d_out)
        return d_out

    def predict(self, x: FloatArray) -> FloatArray:
        """x -> out as forward, keeping nothing."""
        for layer in self.layers:
            x = layer.predict(x)
        return x

    def parameters(self) -> list[Parameter]:
        """Return the parameters of all layers, in order."""
        return [parameter for layer in self.layers for parameter in layer.parameters()]

    def statistics(self) -> dict[str, FloatArray]:
        """Return the statistics of all layers."""
        return {name: array for layer in self.layers for name, array in layer.statistics().items()}
