"""The runs of a sweep: every combination of the values to be tried, each with several seeds.

    --vary learning_rate=1e-3,3e-4 --vary hidden=64,128 --seeds 3      2 x 2 x 3 = 12 runs

A run's folder says what is its own: `learning_rate=1e-3,hidden=64__s1`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import ceil
from pathlib import Path
from typing import Any

from experiments.config import Config, config_from
from experiments.config_source import load_config
from experiments.errors import UserError
from experiments.training.learner import DRILLS_AT_ONCE, Learner
from experiments.training.verdict import check_evaluation

MOST_RUNS = 1_000
FOLDER = re.compile(r"[\w.,=+\-\[\]]{1,120}__s\d{1,20}")
Plan = Mapping[str, Config]  # each run's folder and configuration


def planned(preset: str | None, path: Path | None, settings: Sequence[str], vary: Sequence[str], seeds: int) -> Plan:
    """The runs that a command line describes, checked as far as can be without playing.

    preset, path and settings as for `load_config`; vary are "key=value,value,..." texts. The seeds are as many as
    asked for, from the configuration's own on. Raises UserError, or what refuses an agent or a file of weights.
    """
    if not 1 <= seeds <= MOST_RUNS:
        raise UserError(f"--seeds {seeds}: wanted 1 to {MOST_RUNS}")
    choices = [_choices(text) for text in vary]
    keys = [key for key, _ in choices]
    if repeated := {key for key in keys if keys.count(key) > 1}:
        raise UserError(f"--vary {repeated.pop()} is given twice; write all its values in one, between commas")
    runs: dict[str, Config] = {}
    for values in product(*(texts for _, texts in choices)):
        named = [f"{key}={value}" for key, value in zip(keys, values, strict=True)]
        first = load_config(preset, path, [*settings, *named])
        if any(replace(first, seed=0) == replace(known, seed=0) for known in runs.values()):
            raise UserError(f"--vary: {', '.join(named)} is there twice; once is enough, seeds make the repetitions")
        check_run(first)
        label = re.sub(r"[^\w.,=+\-\[\]]+|_{2,}", "_", ",".join(named) or first.name)[:100]
        if any(_label(folder) == label for folder in runs):
            label += f",{len(runs) // seeds + 1}"
        if not FOLDER.fullmatch(f"{label}__s{first.seed + seeds}"):
            raise UserError(f"seed {first.seed}: too long for a sweep, whose folders are named by it")
        runs |= {f"{label}__s{seed}": replace(first, seed=seed) for seed in range(first.seed, first.seed + seeds)}
        if len(runs) > MOST_RUNS:
            raise UserError(f"more than {MOST_RUNS} runs; vary fewer settings at once")
    return runs


def check_run(config: Config) -> None:
    """Check that a run of this configuration can begin. Raises what training would."""
    Learner(replace(config, puzzles=1))  # the many take seconds to make
    check_evaluation(config)


def plan_from(values: Mapping[str, Any], where: Path) -> Plan:
    """The runs that config.json of a sweep holds. Raises UserError."""
    runs = values.get("runs")
    if set(values) != {"runs"} or not isinstance(runs, dict) or not 1 <= len(runs) <= MOST_RUNS:
        raise UserError(f"{where}: not the configuration of a sweep: wanted its runs, found {sorted(values)[:5]}")
    for folder, config in runs.items():
        if not FOLDER.fullmatch(folder) or not isinstance(config, dict):
            raise UserError(f"{where}: {folder!r} is no folder of a sweep and its settings")
    return {folder: config_from(config) for folder, config in runs.items()}


def groups(plan: Plan) -> dict[str, list[str]]:
    """The folders that differ in the seed alone, under what they have in common."""
    found: dict[str, list[str]] = {}
    for folder in plan:
        found.setdefault(_label(folder), []).append(folder)
    return found


def updates_in(config: Config) -> int:
    """How many updates such a run has, and so rows of metrics after the first."""
    games = config.games - config.drills
    return config.imitation_epochs + ceil(config.drills / DRILLS_AT_ONCE) + ceil(games / config.games_per_update)


def _label(folder: str) -> str:
    return folder.rpartition("__s")[0]


def _choices(text: str) -> tuple[str, list[str]]:
    """The key and the values, as texts, of key=value,value,..."""
    key, equals, values = text.partition("=")
    key = key.strip()
    if not equals or not values.strip():
        raise UserError(f"--vary {text}: write key=value,value,...")
    if key == "seed":
        raise UserError("--vary seed: how many seeds each run is done with is --seeds N, the first of them --seed N")
    return key, [value.strip() for value in _split(values)]


def _split(text: str) -> Iterator[str]:
    """The parts between the commas that stand in no bracket and no quotes."""
    part, depth, quote = "", 0, ""
    for letter in text:
        if letter in "'\"" and quote in ("", letter):
            quote = "" if quote else letter
        depth += 0 if quote else (letter in "[{") - (letter in "]}")
        if letter == "," and not depth and not quote:
            yield part
            part = ""
        else:
            part += letter
    yield part
