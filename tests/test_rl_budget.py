"""A budget runs out by nodes, by the clock, or because somebody says stop; never before."""

import gc
import time

import pytest

from rl.search.budget import Budget, BudgetSpent, undisturbed


def test_nodes_run_out_after_exactly_so_many():
    budget = Budget(nodes=3)
    for _ in range(3):
        assert not budget.spent
        budget.spend()
    assert budget.spent
    with pytest.raises(BudgetSpent):
        budget.spend()


def test_time_runs_out():
    budget = Budget(seconds=0.05)
    began = time.perf_counter()
    budget.spend()
    assert 0 < budget.remaining <= 0.05
    with pytest.raises(BudgetSpent):
        while True:
            budget.spend()
    assert 0.05 <= time.perf_counter() - began < 1
    assert budget.spent and budget.remaining == 0


def test_stopped_from_outside():
    flag = []
    budget = Budget(stopped=lambda: bool(flag))
    budget.spend()
    assert not budget.spent
    flag.append(True)
    assert budget.spent
    with pytest.raises(BudgetSpent):
        budget.spend()


def test_no_limit_is_none():
    budget = Budget()
    for _ in range(1000):
        budget.spend(10**6)
    assert not budget.spent


def test_a_share_has_its_part_of_what_is_left_and_is_settled():
    flag = []
    budget = Budget(seconds=100, nodes=100, stopped=lambda: bool(flag))
    budget.spend(20)
    part = budget.share(0.25)
    assert part.limit == 20 and 20 < part.remaining <= 25
    part.spend(7)
    assert budget.used == 20
    budget.settle(part)
    assert budget.used == 27
    flag.append(True)
    assert part.spent


def test_no_garbage_is_looked_for_while_undisturbed():
    with pytest.raises(RuntimeError), undisturbed():
        assert not gc.isenabled()
        raise RuntimeError
    assert gc.isenabled()
    gc.disable()
    try:
        with undisturbed():
            pass
        assert not gc.isenabled()  # whoever had turned it off still wants it off
    finally:
        gc.enable()


def test_no_look_through_everything_comes_between_a_search_and_its_answer():
    looked = []

    def note(phase, info):
        looked.append(info["generation"])

    kept = [[] for _ in range(len(gc.get_objects()))]  # so much that is new makes a look through everything due
    for _ in range(gc.get_threshold()[2] + 2):
        gc.collect(1)
    gc.callbacks.append(note)
    try:
        with undisturbed():
            kept += [[] for _ in range(10_000)]
        answer = [[] for _ in range(100)]
    finally:
        gc.callbacks.remove(note)
    assert set(looked) == {0} and len(answer) == 100
