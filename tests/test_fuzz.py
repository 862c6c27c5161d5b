"""A small share of `make fuzz`, and the header that claims a thousand million numbers, refused before any memory is."""

import io
import tracemalloc
import zipfile

import fuzz
import numpy as np
import pytest
from fuzz_reader import Reader, unchanged
from mutations import sealed

from experiments.errors import UserError
from experiments.files.example_files import load_examples
from nn import make_net
from nn.weights import SEAL, WeightsError, load_arrays, save_arrays

CASES = 840


def test_mutated_files_and_lines_are_read_or_refused_in_one_line(tmp_path):
    counts, faults = fuzz.fuzz(range(CASES), seed=2, show=lambda fault: None)
    assert not faults, "\n".join(faults)
    assert sum(counts.values()) == CASES
    known = fuzz.readers(tmp_path)
    assert {key.partition(":")[0] for key in counts} == {reader.name for reader in known}


def test_what_is_mutated_can_be_read_as_it_is(tmp_path):
    for reader in fuzz.readers(tmp_path):
        for number, data in enumerate(reader.examples):
            if reader.name == "agents":
                continue  # they name files that are not there
            path = tmp_path / f"whole{number}{reader.suffix}"
            path.write_bytes(data)
            assert reader.read(path) is None


@pytest.mark.parametrize("fault", [KeyError(1), AttributeError("y"), ValueError("z"), MemoryError(), RecursionError()])
def test_a_traceback_is_found(fault, tmp_path):
    def read(path):
        raise fault

    _, found = fuzz.run_case(0, 1, [Reader("broken", ".txt", [b"x"], read)], tmp_path)
    assert found and type(fault).__name__ in found


def test_a_hang_and_a_changed_state_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz, "HANG", 0.05)

    def loop(path):
        while True:
            pass

    outcome, found = fuzz.run_case(0, 1, [Reader("endless", ".txt", [b"x"], loop)], tmp_path)
    assert outcome == "hang" and found
    state = []

    def half_done():
        state.append(1)
        raise UserError("no")

    assert unchanged(lambda: list(state), half_done)


@pytest.mark.parametrize("load", [load_arrays, load_examples])
def test_a_header_that_claims_a_thousand_million_numbers_asks_for_no_memory(load, tmp_path):
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<i8", "fortran_order": False, "shape": (10**9,)})
    path = tmp_path / "x.npz"
    save_arrays(path, {"states": np.zeros((3, 4, 4), np.int8)}, {})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("actions.npy", head.getvalue() + bytes(24))
        archive.comment = SEAL + b"0" * 64
    path.write_bytes(sealed(path.read_bytes()))
    tracemalloc.start()
    with pytest.raises((UserError, WeightsError), match="claims shape"):
        load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_a_net_of_a_number_of_digits_without_end_is_refused(tmp_path):
    net = make_net("conv", 4, 4, rng=np.random.default_rng(1))
    with pytest.raises(WeightsError):
        type(net).from_arrays(net.arrays(), {**net.meta(), "filters": [10**400, 1]}, "x")
