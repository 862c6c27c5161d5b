"""The agents by name: `make_agent("greedy:java")` turns one line of text into a player.

A spec is `name[:argument][,key=value]...`; what follows says which names, arguments and keys there are.
"""

from __future__ import annotations

import difflib
import logging
import math
import re
from collections.abc import Callable
from importlib.resources import files

from nn import BoardNet, load_net
from nn.weights import load_arrays
from rl.agents.alphabeta import SLOW, AlphaBetaAgent, Settings
from rl.agents.base import Agent, BatchAgent
from rl.agents.greedy import GreedyAgent
from rl.agents.judges import Judge, NetValues, Rollouts, ValueSource
from rl.agents.mcts import FOURS, MctsAgent
from rl.agents.outside import OutsideAgent, command_words
from rl.agents.policy import PolicyAgent
from rl.agents.priority import PriorityAgent
from rl.agents.qlearning import QLearningAgent
from rl.agents.random import RandomAgent
from rl.agents.shapes import MINDS, mind
from rl.agents.summed import SummedAgent
from rl.agents.threat import ThreatAgent
from rl.q_table import QTable
from rl.search.rule_file import RuleFile

__all__ = ["Agent", "AgentSpecError", "BatchAgent", "GreedyAgent", "PolicyAgent", "RandomAgent", "make_agent"]


POLICIES = ("policy", "scratch", "quick")  # that come along: see rl/weights/README.md


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
    summed[,own=W,other=W]              values of four lines added up, own * what I would make + other * what they would
    priority                            win > block > own four > block four > own three > near; random within a class
    threat                              win > block > two threats at once > stop them > make one > stop one; all rules
    alphabeta[:slow|:phased][,time=S,nodes=N,depth=D,width=N,rules=FILE]
                                        looks ahead for S seconds (default: 1.5), N nodes or D moves, trying the N most
                                        promising cells (default: 12), by the rules of FILE, which it reads again when
                                        it changes; phased: 6, 4 and 8 moves in opening, middle and endgame; slow:
                                        15,000 nodes too
    shapes:NAME                         to train against: attack, forcing, race, lines, defence, wall, balanced;
                                        these three kinds take ,noise=P: with that chance, a random move
    policy[:PATH][,temperature=T,views=8]
                                        a network from a weights file, or the one for 15x15 that comes along (scratch
                                        and quick, named for their presets, are others); T = 0 (the default) plays the
                                        largest logit; views=8 takes the mean over the symmetric views of the board
    mcts[:PATH][,simulations=200,value=PATH,rollouts=greedy,temperature=T,noise=0,fours=128]
                                        tree search with a policy network's moves; values from a network: that of
                                        value=PATH, or PATH itself if it has them, or else from games played on by
                                        greedy or random; noise is the share of chance at the root, for self-play; wins
                                        by fours alone are looked for at each leaf, in so many nodes
    qlearning:TABLE[,epsilon=0,net=PATH]
                                        the largest Q of a table that gomoku train-q wrote, plus the log p of a policy
                                        network if one is named; epsilon is the chance of any legal move
    brain:COMMAND[,time=S]              a program that speaks the Gomocup protocol, S seconds a move (default: 1);
                                        quotes as for a shell keep commas: brain:'./engine -x a,b',time=0.5

    Raises AgentSpecError for an unknown name, argument or key (naming the closest match), WeightsError for a
    weights file that cannot be read, RuleFileError for a file of rules, EngineError for a program that does not start.
    """
    head, *pairs = _parts(spec)
    name, _, argument = head.partition(":")
    if name == "alphabeta" and "=" in argument:  # alphabeta:time=1.5 is alphabeta,time=1.5
        pairs, argument = [argument, *pairs], ""
    if name not in _MAKERS:
        raise AgentSpecError(f"there is no agent {name!r} in {spec!r}; {closest(name, list(_MAKERS))}")
    options: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise AgentSpecError(f"{pair!r} in {spec!r} is no key=value")
        if key in options:
            raise AgentSpecError(f"{key!r} stands twice in {spec!r}; once is enough")
        options[key] = value
    return _MAKERS[name](spec, argument, options)


def _parts(spec: str) -> list[str]:
    """A spec cut at its commas, those between quotes apart. A quote without its other half is a letter."""
    return re.findall(r"""((?:"[^"]*"|'[^']*'|[^,])*),""", f"{spec},")


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
    taken = _take(spec, options, temperature=0.0, views=1)
    if taken["temperature"] and not 1e-3 <= taken["temperature"] <= 1e3:  # beyond, preferences are no float32 any more
        raise AgentSpecError(f"the temperature in {spec!r} must be 0 (argmax) or from 0.001 to 1000")
    if taken["views"] not in (1, 8):
        raise AgentSpecError(f"the views in {spec!r} must be 1 or 8")
    return PolicyAgent(_policy_at(argument), taken["temperature"], spec, int(taken["views"]))


def _make_mcts(spec: str, argument: str, options: dict[str, str]) -> Agent:
    value, rollouts = options.pop("value", None), options.pop("rollouts", None)
    taken = _take(spec, options, simulations=200, temperature=0.0, noise=0.0, fours=FOURS)
    if not 0 <= taken["fours"] < math.inf or taken["fours"] % 1:
        raise AgentSpecError(f"the fours in {spec!r} must be a whole number of nodes, 0 or more")
    if value is not None and rollouts is not None:
        raise AgentSpecError(f"values in {spec!r} come from value=PATH or from rollouts, not from both")
    if rollouts not in (None, "greedy", "random"):
        raise AgentSpecError(f"unknown rollouts {rollouts!r} in {spec!r}; {closest(rollouts, ['greedy', 'random'])}")
    if not 1 <= taken["simulations"] < math.inf or taken["simulations"] % 1:
        raise AgentSpecError(f"the simulations in {spec!r} must be a whole number, 1 or more")
    if not 0 <= taken["temperature"] < math.inf or not 0 <= taken["noise"] <= 1:
        raise AgentSpecError(f"in {spec!r} the temperature must be 0 or positive, the noise from 0 to 1")
    net = _policy_at(argument)
    values: ValueSource | None = None
    if value is not None or not (argument or rollouts):
        values = NetValues(load_net(value or shipped("value")))
    elif rollouts is not None or not net.HAS_VALUE:
        values = Rollouts(RandomAgent() if rollouts == "random" else GreedyAgent())
    chance = taken["temperature"], taken["noise"]
    return MctsAgent(Judge(net, values), int(taken["simulations"]), *chance, int(taken["fours"]), spec)


def _policy_at(path: str) -> BoardNet:
    """The network of a weights file, or of that name among those that come along, if it knows moves."""
    name = path or "policy"
    net = load_net(shipped(name) if name in POLICIES else path)
    if not net.HAS_POLICY:
        raise AgentSpecError(f"{path} holds a {type(net).__name__}, which knows no moves; a policy network is wanted")
    return net


def shipped(name: str) -> str:
    """The path of weights that come along: one of `POLICIES`, or value."""
    return str(files("rl") / "weights" / f"{name}.npz")


def _make_summed(spec: str, argument: str, options: dict[str, str]) -> Agent:
    taken = _take(spec, options, own=2.0, other=1.0, noise=0.0)
    if argument:
        raise AgentSpecError(f"'summed' takes no argument, got {argument!r} in {spec!r}; write summed,own=2,other=1")
    for key, most in (("own", 20), ("other", 20), ("noise", 1)):
        if not 0 <= taken[key] <= most:
            raise AgentSpecError(f"{key} in {spec!r} must be from 0 to {most}")
    return SummedAgent(**taken)


def _make_priority(spec: str, argument: str, options: dict[str, str]) -> Agent:
    if argument:
        raise AgentSpecError(f"'priority' takes no argument, got {argument!r} in {spec!r}")
    return PriorityAgent(_noise(spec, options))


def _make_threat(spec: str, argument: str, options: dict[str, str]) -> Agent:
    _take(spec, options)
    if argument:
        raise AgentSpecError(f"'threat' takes no argument, got {argument!r} in {spec!r}")
    return ThreatAgent()


def _make_alphabeta(spec: str, argument: str, options: dict[str, str]) -> Agent:
    kinds = {"": Settings(), "phased": Settings(phased=True), "slow": SLOW}
    if argument not in kinds:
        raise AgentSpecError(f"'alphabeta' takes no {argument!r} in {spec!r}; {closest(argument, ['slow', 'phased'])}")
    kind = kinds[argument]
    path = options.pop("rules", None)
    taken = _take(spec, options, time=kind.seconds, nodes=kind.nodes, depth=kind.depth, width=kind.width)
    for key, value in taken.items():
        if key == "time" and not 0 <= value < math.inf:
            raise AgentSpecError(f"time in {spec!r} must be a number of seconds")
        if key in options and key != "time" and not (value >= 1 and value % 1 == 0):
            raise AgentSpecError(f"{key} in {spec!r} must be a whole number from 1 on")
    settings = Settings(
        seconds=taken["time"],
        nodes=taken["nodes"],
        depth=int(taken["depth"]),
        width=int(taken["width"]),
        phased=kind.phased,
    )
    if path is None:
        return AlphaBetaAgent(settings, name=spec)
    return AlphaBetaAgent(settings, RuleFile(path, logging.getLogger(__name__).warning).current, spec)


def _make_shapes(spec: str, argument: str, options: dict[str, str]) -> Agent:
    if argument not in MINDS:
        raise AgentSpecError(f"'shapes' takes no {argument!r} in {spec!r}; {closest(argument, list(MINDS))}")
    return mind(argument, _noise(spec, options))


def _noise(spec: str, options: dict[str, str]) -> float:
    noise = _take(spec, options, noise=0.0)["noise"]
    if not 0 <= noise <= 1:
        raise AgentSpecError(f"the noise in {spec!r} is a chance, from 0 to 1")
    return noise


def _make_qlearning(spec: str, argument: str, options: dict[str, str]) -> Agent:
    path = options.pop("net", None)
    epsilon = _take(spec, options, epsilon=0.0)["epsilon"]
    if not argument:
        raise AgentSpecError(f"{spec!r} names no table; write qlearning:FILE")
    if not 0 <= epsilon <= 1:
        raise AgentSpecError(f"epsilon in {spec!r} is a chance, from 0 to 1")
    table = QTable.from_arrays(*load_arrays(argument), argument)
    return QLearningAgent(table, None if path is None else _policy_at(path), epsilon, spec)


def _make_brain(spec: str, argument: str, options: dict[str, str]) -> Agent:
    taken = _take(spec, options, time=1.0)
    if not 0 < taken["time"] < math.inf:
        raise AgentSpecError(f"the time in {spec!r} is so many seconds a move, more than 0")
    return OutsideAgent(command_words(argument), taken["time"], name=spec)


_MAKERS: dict[str, Callable[[str, str, dict[str, str]], Agent]] = {
    "random": _make_random,
    "greedy": _make_greedy,
    "policy": _make_policy,
    "mcts": _make_mcts,
    "summed": _make_summed,
    "priority": _make_priority,
    "threat": _make_threat,
    "alphabeta": _make_alphabeta,
    "shapes": _make_shapes,
    "qlearning": _make_qlearning,
    "brain": _make_brain,
}
