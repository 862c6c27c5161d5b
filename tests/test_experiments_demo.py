"""`gomoku demo`: the Java program's demonstration game, byte for byte."""

from pathlib import Path

import numpy as np
import pytest

from experiments.__main__ import main
from experiments.java.demo_game import demo_text, java_board_text

GOLDEN = Path(__file__).parent / "data" / "parity"


def test_demo_is_the_same_bytes(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["demo"]) == 0
    assert capfdbinary.readouterr().out == (GOLDEN / "demo.txt").read_bytes()
    assert main(["demo", "--layer-seeds", "101", "-102", "103", "104", "--bias-seed", "77"]) == 0
    assert capfdbinary.readouterr().out == (GOLDEN / "demo_other.txt").read_bytes()


def test_demo_refuses_seeds_java_does_not_have(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--bias-seed", str(2**63)]) == 2
    assert "Java seed" in capsys.readouterr().err


def test_demo_seeds_matter() -> None:
    assert demo_text((1, 2, 3, 4), 5) != demo_text((1, 2, 3, 4), None)


def test_board_text() -> None:
    cells = np.zeros((3, 12), np.int8)
    cells[0, 0], cells[2, 11] = 1, -1
    assert java_board_text(cells) == "  012345678901\n0 X...........\n1 ............\n2 ...........O\n\n"
