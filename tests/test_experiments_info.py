"""`gomoku info`: the table of a network from a file and by name, and what it refuses."""

from pathlib import Path

import numpy as np
import pytest

from experiments.__main__ import main
from nn import NETS, make_net


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["info", *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_file_of_weights(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "net.npz"
    make_net("policy", 6, 5, filters=(2, 3), hidden=4, rng=np.random.default_rng(0), dtype=np.float64).save(path)
    code, out, _ = said(capsys, str(path))
    lines = out.splitlines()
    assert code == 0
    assert lines[0] == f"{path}: PolicyNet, logits; height 6, width 5, planes 2, filters 2 3, hidden 4"
    assert lines[1].split() == ["layer", "out", "parameters", "multiply-adds"]
    assert " ".join(lines[3].split()) == "conv1 2 x 6 x 5 38 1,080 6 * 5 * 2 * 2 * 3 * 3"
    assert " ".join(lines[8].split()) == "fc1 4 364 360 90 * 4"
    assert lines[11].split() == ["total", "609", "3,180"]  # 38 + 57 + 364 + 150 parameters
    assert lines[12] == "609 parameters: 0.00 MB in float64"
    assert "H W F C KH KW" in out


@pytest.mark.parametrize("name", NETS)
def test_a_network_by_name(capsys: pytest.CaptureFixture[str], name: str) -> None:
    code, out, _ = said(capsys, name)
    net = make_net(name, rng=np.random.default_rng(0))
    assert code == 0 and type(net).__name__ in out and "height 15, width 15" in out
    assert f"{sum(parameter.value.size for parameter in net.parameters()):,} parameters" in out
    assert ("running statistics" in out) == bool(net.statistics())
    assert "height 7, width 7" in said(capsys, name, "--size", "7")[1]


def test_what_it_refuses(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "net.npz"
    path.write_bytes(b"nothing")
    for words, complaint in [
        (["polcy"], "did you mean 'policy'?"),
        (["none.npz"], "none.npz: the file is missing"),
        ([str(path)], "is no .npz file"),
        ([str(path), "--size", "6"], "a file of weights has its own"),
        (["policy", "--size", "1000000"], "1000000"),
        (["policy", "--size", "0"], "0"),
    ]:
        code, out, err = said(capsys, *words)
        assert (code, out) == (2, "") and complaint in err and err.count("\n") == 1
