"""Pictures of a network show its numbers: probabilities, kernels, activations, slopes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from env import Board
from env.observation import positions_of
from experiments.__main__ import main
from experiments.errors import UserError
from experiments.pictures.net_plots import activation_maps, filter_grid, gradient_flow, policy_map
from nn import AnswerError, BoardNet, ConvPolicyNet, Dense, Flatten, PolicyNet, ShapeError, ValueNet
from nn.losses import masked_log_softmax

BOARD = Board.from_moves([14, 15, 20], 6, 6, 4)


def small(**more: Any) -> PolicyNet:
    return PolicyNet(6, 6, filters=(4, 5), hidden=8, rng=np.random.default_rng(1), **more)


def seen() -> np.ndarray:
    return positions_of([BOARD]).planes


def pictures(ax: Any) -> list[np.ndarray]:
    return [np.asarray(image.get_array()) for image in ax.get_images()]


def test_the_policy_map_names_the_likeliest_legal_move() -> None:
    net = small()
    net.fc2.bias.value[[14, 5]] = 30, 4  # 14 is occupied, whatever the network thinks of it
    ax = policy_map(Figure().subplots(), net, BOARD)
    p = np.exp(masked_log_softmax(net.predict(seen()), BOARD.legal_mask()[None]))[0]
    assert p.argmax() == 5 and p[14] == 0
    assert ax.get_title() == f"white to move: f6 {p[5]:.1%}\n(numbers: percent)"
    (tints,) = pictures(ax)  # (H, W, 3): the likelier, the farther from wood
    distance = np.abs(tints.astype(int) - tints[14 // 6, 14 % 6].astype(int)).sum(axis=2).ravel()
    assert distance.argmax() == 5 and distance[15] == 0


def test_what_has_no_moves_is_refused() -> None:
    with pytest.raises(AnswerError):
        policy_map(Figure().subplots(), ValueNet(6, 6, hidden=4, rng=np.random.default_rng(1)), BOARD)
    with pytest.raises(ShapeError):
        policy_map(Figure().subplots(), PolicyNet(5, 5, hidden=4, rng=np.random.default_rng(1)), BOARD)
    over = Board.from_moves([0, 6, 1, 7, 2, 8, 3], 6, 6, 4)
    with pytest.raises(UserError, match="the game is over"):
        policy_map(Figure().subplots(), small(), over)


def test_filters_are_the_first_kernels_by_plane() -> None:
    net = small()
    axes = filter_grid(Figure(), net)
    assert axes.shape == (2, 8)
    for f in range(4):
        for plane in range(2):
            assert np.array_equal(pictures(axes[plane, f])[0], net.conv1.weight.value[f, plane])
        assert axes[0, f].get_title() == str(f + 1)
    assert not pictures(axes[0, 4])
    scale = {axes[plane, f].get_images()[0].get_clim() for plane in range(2) for f in range(4)}
    largest = float(np.abs(net.conv1.weight.value).max())
    assert scale == {(-largest, largest)}


def test_of_many_filters_the_largest_are_shown() -> None:
    net = ConvPolicyNet(5, 5, kernels=(3,), filters=40, rng=np.random.default_rng(1))
    weight = net.parameters()[0].value
    weight[:8] *= 1e-3
    axes = filter_grid(Figure(), net)
    assert axes.shape == (8, 8) and axes[0, 0].get_title() == "9"
    assert np.array_equal(pictures(axes[7, 7])[0], weight[39, 1])


def test_activations_are_what_the_layers_say() -> None:
    net = small()
    axes = activation_maps(Figure(), net, BOARD)
    first = np.maximum(net.conv1.predict(seen()), 0)
    second = np.maximum(net.conv2.predict(first), 0)
    assert axes.shape == (2, 8)
    for row, features in enumerate((first[0], second[0])):
        strongest = np.argsort(-features.max(axis=(1, 2)), kind="stable")
        for column, feature in enumerate(strongest):
            assert pictures(axes[row, column])[0] == pytest.approx(features[feature])
            assert axes[row, column].get_title() == str(feature + 1)
    dots = axes[0, 0].collections  # white is to move: the other's stones are 14 and 20
    assert [len(found.get_offsets()) for found in dots] == [1, 2]


def test_a_network_without_convolutions_has_neither() -> None:
    plain = BoardNet(6, 6, 2, np.float32, [Flatten(), Dense(72, 36, rng=np.random.default_rng(1))])
    with pytest.raises(UserError, match="BoardNet has no ReLU over the board"):
        activation_maps(Figure(), plain, BOARD)
    with pytest.raises(UserError, match="BoardNet begins with a Flatten"):
        filter_grid(Figure(), plain)


def test_the_flow_is_the_slope_of_the_likeliest_move() -> None:
    net = small(dtype=np.float64)
    net.conv2.bias.value[...] = [0.1, -0.2, 0.3, 0.2, 0.1]  # away from 0, where ReLU has its kink
    before = [parameter.grad.copy() for parameter in net.parameters()]
    ax = gradient_flow(Figure().subplots(), net, BOARD)
    drawn = {line.get_label(): line.get_xdata() for line in ax.get_lines()}
    slopes = drawn["gradient (nats per unit of weight)"]
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [parameter.name for parameter in net.parameters()]
    for parameter, kept in zip(net.parameters(), before, strict=True):
        assert np.array_equal(parameter.grad, kept)

    def loss() -> float:
        return -float(masked_log_softmax(net.predict(seen()), BOARD.legal_mask()[None]).max())

    bias, step = net.conv2.bias, 1e-6
    found = np.zeros(len(bias.value))
    for entry in range(len(found)):  # by differences
        for sign in (1, -1):
            bias.value[entry] += sign * step
            found[entry] += sign * loss() / (2 * step)
            bias.value[entry] -= sign * step
    assert slopes[names.index("conv2.bias")] == pytest.approx(np.linalg.norm(found), rel=1e-5)
    weight = net.fc1.weight.value
    ratio = slopes[names.index("fc1.weight")] / np.linalg.norm(weight)
    assert drawn["gradient / weights"][names.index("fc1.weight")] == pytest.approx(ratio)
    assert np.isnan(drawn["gradient / weights"][names.index("conv1.bias")])  # biases begin at 0


@pytest.mark.parametrize("kind", ["policy", "filters", "activations", "flow"])
def test_the_command_draws_the_policy_of_a_run(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small().save(tmp_path / "policy.npz")
    assert main(["plot", str(tmp_path), "--kind", kind, "--moves", "c3,d4"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / kind}.png\n"
    assert (tmp_path / f"{kind}.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--moves", "c3c3"], "move 2 of --moves, c3"),
        (["--moves", "z9"], "move 1 of --moves, z9"),
        (["--moves", "c3!"], "wanted moves such as h8h9i9"),
        (["--live"], "--live is for pictures of runs, not for --kind policy"),
        (["--csv", "t.csv"], "--csv is for pictures of runs"),
    ],
)
def test_mistakes_are_one_line(
    more: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small().save(tmp_path / "policy.npz")
    assert main(["plot", str(tmp_path), "--kind", "policy", *more]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["policy.npz"]
