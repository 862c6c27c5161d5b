import numpy as np
import pytest

from env import Board, Rule
from env.observation import planes
from env.symmetry import SYMMETRIES, apply, apply_cell, compose, inverse, permutation

SIZES = [(3, 3), (5, 5), (4, 6), (7, 3), (15, 15)]


def test_the_drawing_in_the_docstring():
    square = np.array([["a", "b"], ["c", "d"]])
    drawn = ["abcd", "bdac", "dcba", "cadb", "badc", "acbd", "cdab", "dbca"]
    assert ["".join(apply(k, square).ravel()) for k in SYMMETRIES] == drawn


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_the_eight_form_a_group(height, width):
    x = np.arange(height * width).reshape(height, width)
    images = [apply(k, x) for k in SYMMETRIES]
    assert len({(image.shape, image.tobytes()) for image in map(np.ascontiguousarray, images)}) == 8
    assert np.array_equal(images[0], x)
    for k in SYMMETRIES:
        assert np.array_equal(apply(inverse(k), images[k]), x)
        assert compose(inverse(k), k) == compose(k, inverse(k)) == 0
        assert sorted(compose(j, k) for j in SYMMETRIES) == list(SYMMETRIES)
        for j in SYMMETRIES:
            assert np.array_equal(apply(compose(j, k), x), apply(j, images[k]))
            for i in SYMMETRIES:
                assert compose(i, compose(j, k)) == compose(compose(i, j), k)


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_the_symmetry_of_a_position_and_of_a_move_agree(height, width):
    """Turning the board and then playing the turned move is playing the move and then turning the board."""
    rng = np.random.default_rng(height * width)
    before = rng.integers(-1, 2, size=(height, width))
    for cell in range(height * width):
        after = before.copy()
        after.flat[cell] = 7
        for k in SYMMETRIES:
            turned = apply(k, before).copy()
            turned.flat[apply_cell(k, cell, height, width)] = 7
            assert np.array_equal(turned, apply(k, after)), (k, cell)


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_permutation_is_apply_for_flat_arrays(height, width):
    rng = np.random.default_rng(1)
    batch = rng.random((2, 3, height, width))
    for k in SYMMETRIES:
        perm = permutation(k, height, width)
        assert np.array_equal(apply(k, batch).reshape(2, 3, -1), batch.reshape(2, 3, -1)[..., perm])
        assert [int(perm[apply_cell(k, cell, height, width)]) for cell in range(height * width)] == list(
            range(height * width)
        )
        with pytest.raises(ValueError, match="read-only"):
            perm[0] = 1


def test_a_turned_game_is_won_by_the_turned_line_and_seen_as_turned_planes():
    rng = np.random.default_rng(5)
    for height, width in [(5, 5), (4, 6), (7, 5)]:
        game = Board(height, width, 3, Rule.FREESTYLE)
        while not game.is_over:
            game.play(int(rng.choice(np.flatnonzero(game.legal_mask()))))
            for k in SYMMETRIES:
                turned_size = apply(k, game.cells).shape
                turned = Board.from_moves([apply_cell(k, c, height, width) for c in game.moves], *turned_size, 3)
                assert np.array_equal(planes(turned), apply(k, planes(game)))
                assert np.array_equal(turned.legal_mask(), game.legal_mask()[permutation(k, height, width)])
                assert turned.is_over == game.is_over
                if game.outcome is not None and turned.outcome is not None:
                    assert turned.outcome.winner == game.outcome.winner


@pytest.mark.parametrize("k", [-1, 8])
def test_there_is_no_ninth(k):
    with pytest.raises(ValueError, match=f"symmetry {k}: there are eight, 0 to 7"):
        apply(k, np.zeros((3, 3)))
