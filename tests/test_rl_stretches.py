"""Stretches: the fast finder equals the definition, and what it says of one more stone equals adding it."""

import numpy as np
import pytest

from env.patterns import Law
from rl.search.evaluation import Kind, stretch_findings
from rl.search.stretches import FIVE, FOURS, NEAR_FOURS, THREES, UNIT, Stretches

SETTINGS = [(n, law) for n in (2, 3, 4, 5, 6) for law in Law if n == 5 or law is not Law.RENJU_BLACK]
WORTHS = (0, *(10**n for n in range(len(Kind))))  # so that a sum says how many there are of each kind


def worth_by_definition(length, stones, win_length, law):
    return sum(WORTHS[kind] for kind, _, _ in stretch_findings(length, stones, win_length, law))


@pytest.mark.parametrize(("win_length", "law"), SETTINGS)
def test_every_short_stretch_is_found_as_defined(win_length, law):
    stretches = Stretches(win_length, law, WORTHS)
    for length in range(1, 10):
        for stones in range(1 << length):
            assert stretches.worth(length, stones) == worth_by_definition(length, stones, win_length, law)


@pytest.mark.parametrize("law", list(Law))
def test_long_stretches_are_found_as_defined(law):
    rng = np.random.default_rng(5)
    stretches = Stretches(5, law, WORTHS)
    for _ in range(150):
        length = int(rng.integers(10, 19))
        stones = sum(1 << int(cell) for cell in rng.choice(length, rng.integers(1, 8), replace=False))
        assert stretches.worth(length, stones) == worth_by_definition(length, stones, 5, law)


@pytest.mark.parametrize(("win_length", "law"), SETTINGS)
def test_gains_and_cuts_are_what_one_more_stone_changes(win_length, law):
    rng = np.random.default_rng(win_length)
    stretches = Stretches(win_length, law, WORTHS)
    for _ in range(100):
        length = int(rng.integers(1, 12))
        stones = sum(1 << int(cell) for cell in np.flatnonzero(rng.random(length) < 0.4))
        here = stretches(length, stones)
        wins = 0
        for cell in range(length):
            bit = 1 << cell
            if stones & bit:
                assert here.own[cell] == here.cut[cell] == 0
                continue
            grown = stretches.worth(length, stones | bit)
            completes = any(
                kind is Kind.FIVE and group & bit
                for kind, group, _ in stretch_findings(length, stones | bit, win_length, law)
            )
            wins += completes
            assert (here.own[cell] > FIVE / 2) == completes
            assert (here.own[cell] - FIVE * completes) // UNIT == grown - here.worth
            windows = [stones >> start & (1 << win_length) - 1 for start in range(length - win_length + 1)]
            covered = windows[max(0, cell - win_length + 1) : cell + 1]
            comes_near = any(window.bit_count() + 1 >= win_length - 2 for window in covered)
            assert (int(here.own[cell]) % UNIT >= NEAR_FOURS) == comes_near
            apart = stretches.worth(cell, stones & bit - 1) + stretches.worth(length - cell - 1, stones >> cell + 1)
            assert here.cut[cell] / UNIT == apart - here.worth
            fours = int(here.own[cell]) % THREES // FOURS
            new = stretches.wins(length, stones | bit) & ~stretches.wins(length, stones)
            assert (fours > 0) == (new > 0)
        assert here.wins == wins == stretches.wins(length, stones).bit_count()
        assert here.worth == worth_by_definition(length, stones, win_length, law)
