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
