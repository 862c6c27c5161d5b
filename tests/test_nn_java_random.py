"""java.util.Random: arrays equal single draws, and nobody can tell afterwards which were made."""

import json
import math
import time
from pathlib import Path

import numpy as np
import pytest

from nn.java_random import ATTEMPTS, BLOCK, JavaRandom, fdlibm_log

GOLDEN = json.loads((Path(__file__).parent / "data" / "parity" / "random.json").read_text())
SEEDS = [0, 1, -1, 42, 2**63 - 1, -(2**63)]


def same_state(a: JavaRandom, b: JavaRandom) -> bool:
    return (a._state, a._kept) == (b._state, b._kept)


@pytest.mark.parametrize("entry", GOLDEN["seeds"], ids=lambda entry: str(entry["seed"]))
def test_golden_numbers(entry: dict) -> None:
    seed = entry["seed"]
    rng = JavaRandom(seed)
    assert [rng.next_int() for _ in range(20)] == entry["nextInt"]
    for row in entry["nextInt_bound"]:
        rng = JavaRandom(seed)
        assert [rng.next_int(row["bound"]) for _ in row["values"]] == row["values"]
    rng = JavaRandom(seed)
    assert [rng.next_double() for _ in range(20)] == entry["nextDouble_dec"] == JavaRandom(seed).random(20).tolist()
    rng = JavaRandom(seed)
    assert [rng.next_gaussian() for _ in range(41)] == entry["nextGaussian_dec"]
    assert JavaRandom(seed).standard_normal(41).tolist() == entry["nextGaussian_dec"]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 10, 11, 1000, 1001])
def test_arrays_equal_single_draws_and_hand_over_exactly(seed: int, count: int) -> None:
    for start in (0, 1):  # with nothing kept, and with a Gaussian kept
        many, single = JavaRandom(seed), JavaRandom(seed)
        for rng in (many, single):
            for _ in range(start):
                rng.next_gaussian()
        assert many.standard_normal(count).tolist() == [single.next_gaussian() for _ in range(count)]
        assert same_state(many, single)
        assert many.random(count).tolist() == [single.next_double() for _ in range(count)]
        assert same_state(many, single)
        assert [many.next_gaussian() for _ in range(3)] == single.standard_normal(3).tolist()
        assert same_state(many, single)


def test_arrays_longer_than_a_block_equal_shorter_ones_joined() -> None:
    for count in (BLOCK // 2 + 1, 2 * ATTEMPTS + 3, 3 * BLOCK + 1):
        whole, parts = JavaRandom(7), JavaRandom(7)
        for draw in ("random", "standard_normal"):
            joined = np.concatenate([getattr(parts, draw)(n) for n in (1, count // 3, 0, count - count // 3 - 1)])
            assert getattr(whole, draw)(count).tobytes() == joined.tobytes()
            assert same_state(whole, parts)


def test_a_random_mix_of_calls() -> None:
    choose = np.random.default_rng(3)
    many, single = JavaRandom(5), JavaRandom(5)
    for _ in range(300):
        kind, count = choose.integers(5), int(choose.integers(0, 9))
        if kind == 0:
            assert many.next_int(225) == single.next_int(225)
        elif kind == 1:
            assert many.random(count).tolist() == [single.next_double() for _ in range(count)]
        elif kind == 2 and choose.random() < 0.2:
            many.set_seed(count)
            single.set_seed(count)
        else:
            assert many.standard_normal(count).tolist() == [single.next_gaussian() for _ in range(count)]
        assert same_state(many, single)


def test_shapes_and_order() -> None:
    assert JavaRandom(1).standard_normal((2, 3)).tolist() == JavaRandom(1).standard_normal(6).reshape(2, 3).tolist()
    assert JavaRandom(1).random((2, 0)).shape == (2, 0)
    assert float(JavaRandom(1).random()) == JavaRandom(1).next_double()
    assert float(JavaRandom(1).standard_normal()) == JavaRandom(1).next_gaussian()


def test_bounds() -> None:
    for bound in (0, -1, 2**31):
        with pytest.raises(ValueError, match="wanted 1 to 2147483647"):
            JavaRandom(1).next_int(bound)
    rng = JavaRandom(1)
    assert all(0 <= rng.next_int(2**30 + 1) <= 2**30 for _ in range(100))


def test_seeds_count_modulo_two_to_the_48() -> None:
    assert JavaRandom(-1).next_int() == JavaRandom(2**48 - 1).next_int()


def test_numpys_integers_count_as_numbers() -> None:
    for seed in (np.int64(-1), np.uint64(2**64 - 1), np.int8(-1)):
        mine, plain = JavaRandom(seed), JavaRandom(-1)
        assert [mine.next_int() for _ in range(5)] == [plain.next_int() for _ in range(5)]
        assert mine.random(np.int64(3)).tolist() == plain.random(3).tolist()
    assert type(JavaRandom(1).next_int(np.int8(100))) is int
    for seed in (1.5, None, "1"):
        with pytest.raises(TypeError):
            JavaRandom(seed)  # type: ignore[arg-type]


def test_logarithm_is_within_one_ulp_and_not_the_library_one() -> None:
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.random(20000), 2.0 ** rng.uniform(-104, 1000, 20000), 1 + rng.uniform(-1e-6, 1e-6, 2000)])
    log = fdlibm_log(x)
    library = np.array([math.log(v) for v in x])
    assert (np.abs(log - library) <= np.spacing(np.abs(library))).all()
    assert (log != library).any()
    special = np.array([1.0, 2.0, 0.5, math.sqrt(0.5), math.sqrt(2), 1 + 2**-52, 1 - 2**-53, 2.0**-104])
    np.testing.assert_allclose(fdlibm_log(special), [math.log(v) for v in special], rtol=2.3e-16)
    assert fdlibm_log(np.array([1.0]))[0] == 0


def test_all_weights_of_the_java_network_in_under_a_second() -> None:
    JavaRandom(0).standard_normal(10)
    start = time.process_time()
    for seed, count in zip((1, 2, 3, 4), (288, 4608, 1843200, 57600), strict=True):
        JavaRandom(seed).standard_normal(count)
    assert time.process_time() - start < 1
