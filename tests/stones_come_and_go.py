"""What holds of every network kept up to date stone by stone: after any moves and undos it says what a whole pass says.
Not tests by itself: those of each kind of network call it.
"""

import numpy as np


def check_stones_that_come_and_go(kept, net, count, moves, tolerance):
    """Put, take back and sweep away stones at random in ``count`` positions; ``tolerance`` is of the largest logit."""
    rng = np.random.default_rng(net.height * net.width + count)
    x = np.zeros((count, 2, net.height * net.width), net.dtype)
    for move in range(min(moves, net.height * net.width)):
        which = np.flatnonzero(rng.random(count) < 0.8)
        cells = np.array([rng.choice(np.flatnonzero(x[e].sum(axis=0) == 0)) for e in which], dtype=int)
        planes = rng.integers(2, size=len(which))
        kept.put(which, planes, cells)
        if move % 4 == 3:
            kept.put(which, planes, cells, -1)
        else:
            x[which, planes, cells] = 1
        if move % 17 == 16:
            kept.reset(which[:1])
            x[which[:1]] = 0
        wanted = net.predict(x.reshape(count, 2, net.height, net.width))
        got = kept.logits(np.arange(count))
        assert np.abs(got - wanted).max() <= tolerance * np.abs(wanted).max()


def check_moves_and_undos_do_not_wander_off(kept, net):
    """Hundreds of stones put on one 15x15 board and taken back at once leave the logits of the empty board."""
    for cell in np.random.default_rng(5).integers(225, size=400).tolist():
        kept.put_one(0, 0, cell)
        kept.put_one(0, 0, cell, -1)
    wanted = net.predict(np.zeros((1, 2, 15, 15), net.dtype))
    assert np.abs(kept.logits(np.array([0])) - wanted).max() <= 1e-5 * np.abs(wanted).max()


def check_logits_are_ones_own(kept):
    """What one position's logits were does not change with the position, nor when somebody writes on them."""
    one = np.array([0])
    before = kept.logits(one)
    copy = before.copy()
    kept.put(one, one, np.array([12]))
    kept.logits(one)[...] = 7
    assert before.tobytes() == copy.tobytes()
    kept.reset(one)
    assert kept.logits(one).tobytes() == copy.tobytes()
