"""What leaves for other programs is what we have: onnxruntime's logits are ours, the event file holds the metrics."""

import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from env import Rule
from env.lockstep import Lockstep
from experiments.__main__ import main
from experiments.errors import UserError
from experiments.files.event_file import event_bytes
from experiments.files.onnx_file import onnx_model
from nn import (
    BoardNet,
    ConvPolicyNet,
    ConvValueNet,
    LinePolicyNet,
    LineValueNet,
    PolicyNet,
    ResidualPolicyNet,
    ValueNet,
)
from rl.selfplay import open_randomly

SIZES = ((15, 15), (9, 9), (6, 6), (5, 8))


def positions(count: int, height: int, width: int) -> np.ndarray:
    """Planes of games with up to twenty random stones."""
    rng = np.random.default_rng(1)
    games = Lockstep(count, height, width, 5, Rule.FREESTYLE)
    open_randomly(games, np.arange(count) % 21, rng)
    return games.positions(np.arange(count)).planes


def run_by_others(content: bytes, x: np.ndarray) -> np.ndarray:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    (out,) = session.run(None, {"x": x})
    return np.asarray(out)


def make(kind: type[BoardNet], height: int, width: int, **more: Any) -> BoardNet:
    """A network whose biases are not 0."""
    rng = np.random.default_rng(height)
    build: Any = kind
    net: BoardNet = build(height, width, rng=rng, **more)
    for parameter in net.parameters():
        if parameter.name.endswith("bias"):
            parameter.value[...] = rng.normal(size=parameter.value.shape) / 10
    return net


@pytest.mark.parametrize(("height", "width"), SIZES)
@pytest.mark.parametrize("kind", [PolicyNet, ConvPolicyNet, LinePolicyNet, ValueNet, ConvValueNet, LineValueNet])
def test_onnxruntime_answers_as_we_do(kind: type[BoardNet], height: int, width: int) -> None:
    more = {"filters": 16} if kind is ConvPolicyNet else {"hidden": 32}
    net = make(kind, height, width, **more)
    x = positions(1000, height, width)
    ours = net.predict(x)
    theirs = run_by_others(onnx_model(net).SerializeToString(), x)
    assert theirs.shape == ours.shape and np.ptp(ours) > 0.05
    assert np.abs(theirs - ours).max() < 1e-5


def test_a_double_network_is_written_in_float32() -> None:
    net = make(PolicyNet, 6, 6, hidden=8, dtype=np.float64)
    x = positions(10, 6, 6)
    theirs = run_by_others(onnx_model(net).SerializeToString(), x)
    assert theirs.dtype == np.float32
    assert np.abs(theirs - net.predict(x)).max() < 1e-5


def test_the_graph_says_what_it_is() -> None:
    model = onnx_model(make(ConvPolicyNet, 5, 8, filters=4))
    assert [node.op_type for node in model.graph.node] == ["Conv", "Relu", "Conv", "Relu", "Conv", "Flatten"]
    assert {entry.key: entry.value for entry in model.metadata_props}["net"] == "ConvPolicyNet"
    shape = [part.dim_param or part.dim_value for part in model.graph.input[0].type.tensor_type.shape.dim]
    assert shape == ["N", 2, 5, 8]


def test_a_layer_with_no_node_is_named() -> None:
    with pytest.raises(UserError, match=r"ResidualPolicyNet holds a \w+; ONNX files are written of Conv2D, Dense"):
        onnx_model(make(ResidualPolicyNet, 5, 5))


def test_the_command_writes_beside_the_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = make(PolicyNet, 6, 6, hidden=8)
    net.save(tmp_path / "policy.npz")
    assert main(["export", "onnx", str(tmp_path / "policy.npz")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'policy.onnx'}\n"
    x = positions(5, 6, 6)
    assert run_by_others((tmp_path / "policy.onnx").read_bytes(), x) == pytest.approx(net.predict(x), abs=1e-5)
    before = (tmp_path / "policy.npz").read_bytes()
    assert main(["export", "onnx", str(tmp_path / "policy.npz"), "-o", str(tmp_path / "policy.npz")]) == 2
    assert (tmp_path / "policy.npz").read_bytes() == before


ROWS = [
    {"update": 0, "games": 0, "evaluation": {"greedy": {"win_rate": 0.25}}},
    {"update": 1, "games": 512, "seconds": 1.5, "entropy": 2.75, "rolled_back": None},
    {"update": 2, "games": 1024, "seconds": 2.0, "entropy": 1.5, "evaluation": {"greedy": {"win_rate": 1}}},
]


def scalars(content: bytes) -> dict[str, list[tuple[int, float, float]]]:
    """tag -> (step, value, time) of an event file: records of length (8 bytes), its check (4), event, its check (4)."""
    from tensorboardX.proto.event_pb2 import Event

    found: dict[str, list[tuple[int, float, float]]] = {}
    at = 0
    while at < len(content):
        (length,) = struct.unpack_from("<Q", content, at)
        event = Event.FromString(content[at + 12 : at + 12 + length])
        at += 12 + length + 4
        for value in event.summary.value:
            found.setdefault(value.tag, []).append((event.step, value.simple_value, event.wall_time))
    return found


def test_the_event_file_holds_every_number_of_the_metrics() -> None:
    assert scalars(event_bytes(ROWS)) == {
        "evaluation/greedy/win_rate": [(0, 0.25, 0.0), (1024, 1.0, 3.5)],
        "entropy": [(512, 2.75, 1.5), (1024, 1.5, 3.5)],
    }


def test_the_command_writes_into_the_run_and_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metrics = tmp_path / "metrics.jsonl"
    for count in (2, 3):
        metrics.write_text("".join(json.dumps(row) + "\n" for row in ROWS[:count]))
        assert main(["export", "tensorboard", str(tmp_path)]) == 0
        written = Path(capsys.readouterr().out.strip())
        assert written.parent == tmp_path / "tensorboard" and [*written.parent.iterdir()] == [written]
        assert len(scalars(written.read_bytes())["entropy"]) == count - 1
    for broken in ({"entropy": 1.0}, {"games": 5, "seconds": "long"}):
        metrics.write_text(json.dumps(ROWS[0]) + "\n" + json.dumps(broken) + "\n")
        assert main(["export", "tensorboard", str(tmp_path)]) == 2
        assert "metrics.jsonl, line 2: wanted a number of" in capsys.readouterr().err


@pytest.mark.parametrize(("module", "extra"), [("onnx", "onnx"), ("tensorboardX", "tb")])
def test_a_missing_package_is_one_line(
    module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # what an import of it then raises is an ImportError
    make(PolicyNet, 5, 5, hidden=4).save(tmp_path / "policy.npz")
    (tmp_path / "metrics.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    asked = ["onnx", str(tmp_path / "policy.npz")] if module == "onnx" else ["tensorboard", str(tmp_path)]
    assert main(["export", *asked]) == 2
    assert capsys.readouterr().err == f"gomoku: this needs the package {module}: pip install -e '.[{extra}]'\n"
    assert {path.name for path in tmp_path.iterdir()} == {"policy.npz", "metrics.jsonl"}
