"""What a network sees in a position: its preferences, its first filters, its activations, how its slopes flow.

Axes in, Axes out; where one picture is many small ones, a figure in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from env import BLACK, Board
from env.coords import cell_name
from env.observation import positions_of
from experiments.errors import UserError
from experiments.pictures.boards import draw_board
from experiments.pictures.figures import BLUE, ORANGE
from nn import BoardNet, Conv2D, ReLU
from nn.layers import FloatArray
from nn.losses import masked_log_softmax, weighted_cross_entropy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

MOST_FILTERS, IN_A_ROW = 32, 8
PLANE_NAMES = ("own", "other's", "turn")


def policy_map(ax: Axes, net: BoardNet, board: Board) -> Axes:
    """Draw the probability of each legal move over the board, in percent from 1 % on, and return `ax`.

    Raises AnswerError if the network has no moves, ShapeError if it was made for another board.
    """
    log_p = _log_chances(net, board)
    best = int(log_p.argmax())
    draw_board(ax, board, heat=np.exp(log_p))
    side = "black" if board.to_move == BLACK else "white"
    name = cell_name(best, board.height, board.width)
    ax.set_title(f"{side} to move: {name} {np.exp(log_p[best]):.1%}\n(numbers: percent)", fontsize="medium")
    return ax


def filter_grid(figure: Figure | SubFigure, net: BoardNet) -> NDArray[Any]:
    """Draw the kernels of the first convolution, one below the other for each plane; return axes (rows * C, 8).

    Purple counts for a feature, brown against it. Of more than 32 those with the largest weights are shown.
    Raises UserError if the network does not begin with a convolution.
    """
    first = net.layers[0]
    if not isinstance(first, Conv2D):
        raise UserError(f"{type(net).__name__} begins with a {type(first).__name__}; filters are those of a Conv2D")
    kernels = first.weight.value  # (F, C, KH, KW)
    count, planes = kernels.shape[:2]
    size = np.abs(kernels).reshape(count, -1).max(axis=1)
    shown = np.sort(np.argsort(-size, kind="stable")[:MOST_FILTERS])
    rows = -(-len(shown) // IN_A_ROW)
    axes: NDArray[Any] = figure.subplots(rows * planes, IN_A_ROW, squeeze=False)
    largest = float(size.max()) or 1.0
    image = None
    for place in range(rows * IN_A_ROW):
        row, column = divmod(place, IN_A_ROW)
        for plane in range(planes):
            ax = axes[row * planes + plane, column]
            ax.set(xticks=[], yticks=[])
            if place >= len(shown):
                ax.set_axis_off()
                continue
            image = ax.imshow(kernels[shown[place], plane], cmap="PuOr", vmin=-largest, vmax=largest)
            if plane == 0:
                ax.set_title(str(shown[place] + 1), fontsize="small")
            if column == 0:
                ax.set_ylabel(PLANE_NAMES[plane], fontsize="small")
    assert image is not None
    figure.colorbar(image, ax=axes, label="weight", shrink=0.8)
    which = f"{len(shown)} of {count}" if count > len(shown) else str(count)
    figure.suptitle(f"{first.weight.name}: {which} filters of {kernels.shape[2]} x {kernels.shape[3]}")
    return axes


def activation_maps(figure: Figure | SubFigure, net: BoardNet, board: Board) -> NDArray[Any]:
    """Draw where on the board the strongest features of each layer answer, and return axes (layers, 8).

    The layers are those that end in a ReLU over the board; strongest means the largest answer anywhere. Own stones
    are black dots, the other's white. Raises UserError if there is no such layer, ShapeError for another board.
    """
    seen = _seen(net, board)
    maps = _maps(net, seen)
    if not maps:
        raise UserError(f"{type(net).__name__} has no ReLU over the board among its layers")
    axes: NDArray[Any] = figure.subplots(len(maps), IN_A_ROW, squeeze=False)
    for row, (name, features) in zip(axes, maps.items(), strict=True):  # features (F, H, W)
        peaks = features.reshape(len(features), -1).max(axis=1)
        strongest = np.argsort(-peaks, kind="stable")[:IN_A_ROW]
        image = None
        for ax, feature in zip(row, strongest, strict=False):
            image = ax.imshow(features[feature], cmap="cividis", vmin=0, vmax=float(peaks.max()) or 1.0)
            for plane, face in ((0, "black"), (1, "white")):
                rows, columns = np.nonzero(seen[0, plane])
                ax.scatter(columns, rows, s=9, color=face, edgecolors="0.5", linewidths=0.5)
            ax.set_title(f"{feature + 1}", fontsize="small")
        for number, ax in enumerate(row):
            ax.set(xticks=[], yticks=[])
            if number >= len(strongest):
                ax.set_axis_off()
        row[0].set_ylabel(f"after {name}", fontsize="small")
        if image is not None:
            figure.colorbar(image, ax=list(row), label="activation", shrink=0.9)
    figure.suptitle("where features answer (dots: own stones black, the other's white)", fontsize="medium")
    return axes


def gradient_flow(ax: Axes, net: BoardNet, board: Board) -> Axes:
    """Draw how far the slope of -log p(likeliest move) reaches, parameter by parameter, and return `ax`.

    Two norms for each array, on a logarithmic axis: of the gradient (nats per unit of weight), and of the gradient
    over that of the weights. The network keeps its own gradients. Raises what `policy_map` raises.
    """
    from matplotlib.ticker import NullFormatter

    log_p = _log_chances(net, board)
    learner = net.copy()
    action = np.array([int(log_p.argmax())])
    mask = board.legal_mask()[np.newaxis]
    out = learner.forward(_seen(net, board))
    cells = net.height * net.width
    _, d_logits = weighted_cross_entropy(out[:, :cells], action, np.ones(1), mask)
    d_out = np.zeros_like(out)
    d_out[:, :cells] = d_logits
    learner.backward(d_out)
    parameters = learner.parameters()
    slopes = np.array([np.linalg.norm(parameter.grad) for parameter in parameters])
    sizes = np.array([np.linalg.norm(parameter.value) for parameter in parameters])
    rows = np.arange(len(parameters))
    relative = np.divide(slopes, sizes, out=np.full(len(rows), np.nan), where=sizes > 0)
    ax.plot(slopes, rows, "o", color=BLUE, label="gradient (nats per unit of weight)")
    ax.plot(relative, rows, "D", color=ORANGE, label="gradient / weights")
    ax.set_xscale("log")
    drawn = np.concatenate([slopes, relative])
    drawn = np.log10(drawn[drawn > 0])  # what is NaN or 0 has no place on this axis
    ax.set_xlim(10.0 ** np.floor(drawn.min(initial=0)), 10.0 ** np.ceil(drawn.max(initial=0)) * 1.2)
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_yticks(rows, [parameter.name for parameter in parameters])
    ax.invert_yaxis()
    ax.set_xlabel("norm")
    best = cell_name(int(action[0]), board.height, board.width)
    ax.set_title(f"slopes of $-\\log p$({best}), p = {np.exp(log_p[action[0]]):.1%}", fontsize="medium")
    ax.grid(alpha=0.3)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2, fontsize="small")  # points may be anywhere
    return ax


def _seen(net: BoardNet, board: Board) -> FloatArray:
    return positions_of([board]).seen(net.planes)


def _log_chances(net: BoardNet, board: Board) -> FloatArray:
    """The logarithm of each cell's probability, (A,)."""
    if board.outcome is not None:
        raise UserError("the game is over in this position; there is no move to look at")
    log_p: FloatArray = masked_log_softmax(net.logits(_seen(net, board)), board.legal_mask()[np.newaxis])[0]
    return log_p


def _maps(net: BoardNet, x: FloatArray) -> dict[str, FloatArray]:
    """Layer's name -> its features (F, H, W) after each ReLU over the board."""
    net.predict(x)  # is it the right board?
    maps: dict[str, FloatArray] = {}
    name = "x"
    for layer in net.layers:
        x = layer.predict(x)
        if parameters := layer.parameters():
            name = parameters[0].name.rpartition(".")[0]
        if isinstance(layer, ReLU) and x.ndim == 4:
            maps[name] = x[0]
    return maps
