"""The clock of a match: the limits of a move, and two hundred moves in time on a machine that is busy."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from env import Board
from env.gomocup import parse_point, point_text
from experiments.playing.move_clock import LATENCY, MoveClock

ROOT = Path(__file__).resolve().parent.parent


def limits(**info: int) -> tuple[float, float]:
    clock = MoveClock()
    for key, value in info.items():
        clock.inform(key, value)
    return clock.limits()


def test_the_limits_of_a_move() -> None:
    assert limits() == (float("inf"), float("inf"))
    assert limits(timeout_match=0, time_left=2147483647) == (float("inf"), float("inf"))
    think, answer = limits(timeout_turn=1000)
    assert 0.75 < think < answer == 1 - LATENCY
    assert limits(timeout_turn=1000, time_left=2147483647) == (think, answer)
    assert limits(timeout_turn=1000, time_left=100_000) == (think, answer)
    think, answer = limits(timeout_turn=1000, time_left=4000)
    assert 0.04 < think < 0.2 and answer == 1 - LATENCY
    for hurry in ({"timeout_turn": 0}, {"time_left": -5}, {"time_left": 0}, {"timeout_turn": 10}):
        think, answer = limits(**hurry)
        assert 0 < think < answer < 0.2


def test_time_is_counted_for_managers_that_do_not() -> None:
    clock = MoveClock()
    clock.inform("timeout_match", 1000)
    clock.spend(0.9)
    assert clock.left == pytest.approx(0.1) and clock.limits().answer < 0.1
    clock.new_game()
    assert clock.left == 1


def test_a_machine_that_wakes_threads_up_late_is_given_a_wider_margin() -> None:
    clock = MoveClock()
    clock.inform("timeout_turn", 1000)
    calm = clock.limits()
    clock.overslept(0.1)
    clock.overslept(0.02)
    busy = clock.limits()
    assert busy.answer == pytest.approx(calm.answer - 0.2) and busy.think == pytest.approx(calm.think - 0.3)
    clock.overslept(2)
    assert 0 < clock.limits().think < clock.limits().answer == 0.25
    for _ in range(200):
        clock.spend(0.5)
    assert clock.limits() == pytest.approx(calm, abs=1e-3)  # and calm again


# A brain whose agent uses all its time, but in every thirtieth move far more than it has.
BUSY = """
import io, os, sys, time
import numpy as np
from experiments.brain import Brain
from rl.agents.base import Thinker

class Moody(Thinker):
    name, moves = "moody", 0
    def choose(self, board, rng):
        raise NotImplementedError
    def think(self, board, rng, *, seconds, stopped):
        self.moves += 1
        end = time.perf_counter() + (seconds if self.moves % 30 else 1)
        while time.perf_counter() < end:
            sum(range(200))
        return int(np.argmax(board.legal_mask()))

Brain(Moody(), 1, sys.stdin.buffer, sys.stdout, io.StringIO()).play()
os._exit(0)
"""


class Bystander(threading.Thread):
    """Sleeps in short naps, and notes by how much the machine overslept the worst of them."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.worst, self.wanted = 0.0, True

    def run(self) -> None:
        while self.wanted:
            began = time.perf_counter()
            time.sleep(0.005)
            self.worst = max(self.worst, time.perf_counter() - began - 0.005)


def test_no_move_of_two_hundred_is_late_under_load() -> None:
    """Not later, that is, than a machine that other programs may be using too makes somebody who only sleeps."""
    limit = 0.5
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    brain = subprocess.Popen([sys.executable, "-c", BUSY], stdin=-1, stdout=-1, cwd=ROOT, text=True, bufsize=1)
    took, rng, bystander = [], np.random.default_rng(1), Bystander()
    bystander.start()
    try:
        assert brain.stdin is not None and brain.stdout is not None
        brain.stdin.write(f"INFO timeout_turn {1000 * limit:.0f}\n")
        while len(took) < 200:
            brain.stdin.write("START 20\n")
            assert brain.stdout.readline() == "OK\n"
            board = Board(20, 20)
            while board.outcome is None and len(took) < 200:
                cell = int(rng.choice(np.flatnonzero(board.legal_mask())))
                board.play(cell)
                if board.is_over:
                    break
                began = time.perf_counter()
                left = 2147483647 if len(took) % 40 == 10 else 1000  # of which a move may take a small share
                brain.stdin.write(f"INFO time_left {left}\nTURN {point_text(cell, 20)}\n")
                said = brain.stdout.readline()
                took.append(time.perf_counter() - began)
                board.play(parse_point(said, 20, 20))
        brain.stdin.write("END\n")
        assert brain.wait(10) == 0
    finally:
        bystander.wanted = False
        for each in (*busy, brain):
            each.kill()
            each.wait()
        for pipe in (brain.stdin, brain.stdout):
            assert pipe is not None
            pipe.close()
    assert max(took) < limit + bystander.worst, f"{max(took):.3f} s, naps overslept by {bystander.worst:.3f} s"
