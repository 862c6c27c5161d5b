"""Where a run begins: the network before any training, and what its stage of imitation is told.

Both depend on the configuration alone, and on the file it may name.
"""

from __future__ import annotations

import numpy as np

from experiments.config import Config
from experiments.errors import UserError
from experiments.plan import Plan
from nn import PolicyNet


def initial_net(config: Config) -> PolicyNet:
    """The network before any training, the same at every call: it depends on the configuration alone."""
    if config.java_weights:
        java = PolicyNet.java()
        return PolicyNet.from_arrays(
            {parameter.name: parameter.value for parameter in java.parameters()}, java.meta(), "java", config.dtype
        )
    if config.start:
        net = PolicyNet.load(config.start, config.dtype)
        sizes, wanted = (
            (each.height, each.width, tuple(each.filters), each.hidden) for each in (net, config)
        )
        if sizes != wanted:
            raise UserError(f"{config.start} holds a net of {sizes} (height, width, filters, hidden), wanted {wanted}")
        return net
    return PolicyNet(
        config.height,
        config.width,
        filters=config.filters,
        hidden=config.hidden,
        rng=np.random.default_rng([config.seed, 0]),
        dtype=config.dtype,
    )


def imitation_plan(config: Config) -> Plan:
    """What the first stage of a run is told: `gomoku pretrain`'s own settings, on the board and network of the run."""
    return Plan(
        seed=config.seed,
        height=config.height,
        width=config.width,
        win_length=config.win_length,
        rule=config.rule,
        filters=config.filters,
        hidden=config.hidden,
        epochs=config.imitation_epochs,
        lessons=config.imitation_lessons,
        teacher=config.imitation_teacher,
        init=config.start,
    )
