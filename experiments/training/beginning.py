"""Where a run begins: the network before any training, what its stage of imitation is told, and the baseline.

All depend on the configuration alone, and on the file it may name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.config import Config
from experiments.errors import UserError
from experiments.training.pretrain_plan import Plan
from nn import NETS, BoardNet, PolicyNet, ShapeError, load_net, make_net
from nn.line_value_net import LineValueNet
from rl.baseline import Baseline, LeaveOneOut, NoBaseline, RunningMean, TacticalTable
from rl.value_net_baseline import ValueNetBaseline
from rl.value_regression import ValueRegression


def initial_net(config: Config) -> BoardNet:
    """The network before any training, the same at every call: it depends on the configuration alone."""
    if config.java_weights:
        java = PolicyNet.java()
        return PolicyNet.from_arrays(
            {parameter.name: parameter.value for parameter in java.parameters()}, java.meta(), "java", config.dtype
        )
    if config.start:
        net = load_net(config.start, config.dtype)
        if not net.HAS_POLICY or net.HAS_VALUE or net.planes != 2:
            raise UserError(f"{config.start} holds a {type(net).__name__}; REINFORCE teaches policies of two planes")
        if config.net != "policy" and type(net) is not NETS[config.net]:
            raise UserError(f"{config.start} holds a {type(net).__name__}, not the net {config.net} that is asked for")
        _check_sizes(config, net)
        return fitted(net, config.start, config.height, config.width)
    sizes: dict[str, Any] = {"filters": config.filters, "hidden": config.hidden} if config.net == "policy" else {}
    rng = np.random.default_rng([config.seed, 0])
    return make_net(config.net, config.height, config.width, rng=rng, dtype=config.dtype, **sizes)


def _check_sizes(config: Config, net: BoardNet) -> None:
    """Raise UserError if filters or hidden are asked for and are not those of the net, which the file settles."""
    for key in ("filters", "hidden"):
        given = getattr(config, key)
        its = getattr(net, key, None) if isinstance(net, PolicyNet) else None
        if given not in (getattr(Config, key), its):
            says = f"has {key} {its}" if its else "has sizes of its own"
            raise UserError(f"{key} = {given}: {config.start} holds a {type(net).__name__}, which {says}; leave it out")


def fitted(net: BoardNet, path: str, height: int, width: int) -> BoardNet:
    """The net of a file on the board of a run: what convolutions learn on a small one holds on a large one.

    Raises UserError if its weights belong to another board.
    """
    try:
        return net.on_board(height, width)
    except ShapeError as error:
        raise UserError(f"{path}: {error}") from None


def imitation_plan(config: Config) -> Plan:
    """What the first stage of a run is told: `gomoku pretrain`'s own settings, on the board and network of the run."""
    return Plan(
        seed=config.seed,
        height=config.height,
        width=config.width,
        win_length=config.win_length,
        rule=config.rule,
        net=config.net,
        filters=() if config.start or config.net != "policy" else config.filters,
        hidden=0 if config.start or config.net != "policy" else config.hidden,
        epochs=config.imitation_epochs,
        lessons=config.imitation_lessons,
        teacher=config.imitation_teacher,
        init=config.start,
    )


def initial_baseline(config: Config, kinds: int) -> Baseline:
    """What results are compared with, before it has learnt anything; `kinds` of opponents are told apart."""
    if config.baseline == "value":
        rng = np.random.default_rng([config.seed, 4])
        net = LineValueNet(config.height, config.width, rng=rng, dtype=np.dtype(config.dtype))
        return ValueNetBaseline(net)
    if config.baseline == "leave-one-out":
        return LeaveOneOut(config.discount)
    if config.baseline == "none":
        return NoBaseline()
    return {"mean": RunningMean, "tactics": TacticalTable, "features": ValueRegression}[config.baseline](kinds)
