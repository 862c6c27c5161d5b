"""The agents by name: `make_agent("greedy:java")` turns one line of text into a player.

A spec is `name[:argument][,key=value]...`; what follows says which names, arguments and keys there are.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable

from nn import PolicyNet
from rl.agents.base import Agent, BatchAgent
from rl.agents.greedy import GreedyAgent
from rl.agents.policy import PolicyAgent
from rl.agents.random import RandomAgent

__all__ = ["Agent", "AgentSpecError", "BatchAgent", "GreedyAgent", "PolicyAgent", "RandomAgent", "make_agent"]


class AgentSpecError(ValueError):
    """An agent spec that names nothing: the message says which part, and what it may have meant."""


def closest(wanted: str, known: list[str]) -> str:
    """A hint for an unknown word: the closest known one, or all of them."""
    match = difflib.get_close_matches(wanted, known, n=1)
    return f"did you mean {match[0]!r}?" if match else f"known: {', '.join(known) or 'none'}"


def make_agent(spec: str) -> Agent:
    """The agent that `spec` describes.

    random                              a uniformly random legal cell
    greedy                              the open/blocked-count heuristic, ties at random
    greedy:java                         the same with the Java program's ties: the first cell in row order
    greedy:sharp                        the same, but it takes a win before anything else
    policy:PATH[,temperature=T]         a network from a weights file; T = 0 (the default) plays the largest logit

    Raises AgentSpecError for an unknown name, argument or key (naming the closest match), WeightsError for a
    weights file that cannot be read.
    """
    head, *pairs = spec.split(",")
    name, _, argument = head.partition(":")
    if name not in _MAKERS:
        raise AgentSpecError(f"there is no agent {name!r} in {spec!r}; {closest(name, list(_MAKERS))}")
    options: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise AgentSpecError(f"{pair!r} in {spec!r} is no key=value")
        options[key] = value
    return _MAKERS[name](spec, argument, options)


def _take(spec: str, options: dict[str, str], **defaults: float) -> dict[str, float]:
    """The numeric options of a spec over their defaults; refuses unknown keys and values that are no number."""
    for key in options:
        if key not in defaults:
            raise AgentSpecError(f"unknown option {key!r} in {spec!r}; {closest(key, list(defaults))}")
    try:
        return defaults | {key: float(value) for key, value in options.items()}
    except ValueError as error:
        raise AgentSpecError(f"an option of {spec!r} is no number: {error}") from None


def _make_random(spec: str, argument: str, options: dict[str, str]) -> Agent:
    _take(spec, options)
    if argument:
        raise AgentSpecError(f"'random' takes no argument, got {argument!r} in {spec!r}")
    return RandomAgent()


def _make_greedy(spec: str, argument: str, options: dict[str, str]) -> Agent:
    _take(spec, options)
    if argument not in ("", "java", "sharp"):
        raise AgentSpecError(f"'greedy' takes no {argument!r} in {spec!r}; {closest(argument, ['java', 'sharp'])}")
    return GreedyAgent(first_of_ties=argument == "java", sharp=argument == "sharp")


def _make_policy(spec: str, argument: str, options: dict[str, str]) -> Agent:
    taken = _take(spec, options, temperature=0.0)
    if not argument:
        raise AgentSpecError(f"{spec!r} names no weights file; write policy:PATH")
    if not 0 <= taken["temperature"] < math.inf:
        raise AgentSpecError(f"the temperature in {spec!r} must be 0 (argmax) or positive")
    return PolicyAgent(PolicyNet.load(argument), temperature=taken["temperature"], name=spec)


_MAKERS: dict[str, Callable[[str, str, dict[str, str]], Agent]] = {
    "random": _make_random,
    "greedy": _make_greedy,
    "policy": _make_policy,
}
