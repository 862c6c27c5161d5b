"""Where training's time goes: every part is found, what was done is not counted twice, and the sum is the whole."""

import pytest

from experiments.config_source import load_config
from experiments.speed import loop_cost as module
from experiments.speed.loop_cost import loop_cost, table

TINY = [
    "height=5", "width=5", "win_length=4", "games=400", "games_per_update=40", "watched=true", "baseline=features",
    "opponents={greedy=0.5, self=0.2, pool=0.3}",
]  # fmt: skip
NETS = {"policy": ["filters=[2, 2]", "hidden=8"], "conv": ["net=conv"], "line": ["net=line"]}


@pytest.mark.parametrize("net", NETS)
def test_every_part_is_found_and_the_sum_is_the_whole(net):
    cost = loop_cost(load_config(None, None, TINY + NETS[net]), updates=2)
    wanted = {"network in play", "opponents", "board", "forward", "backward", "step", "expected returns", "rest"}
    assert set(cost.seconds) == wanted and min(cost.seconds.values()) > 0
    assert cost.games == 80 and cost.positions > 80 * 3
    assert f"{cost.total:.2f} s" in table(cost).splitlines()[-1]


def test_no_opponent_but_oneself_costs_nothing_and_a_part_without_a_name_is_rest(monkeypatch):
    settings = [*TINY, "opponents={self=1}", "baseline=mean", *NETS["line"]]
    assert "opponents" not in loop_cost(load_config(None, None, settings), updates=1).seconds
    monkeypatch.setattr(module, "PARTS", {})
    assert set(loop_cost(load_config(None, None, settings), updates=1).seconds) == {"backward", "rest"}
