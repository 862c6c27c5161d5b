"""Who sits at the board: a person, or an agent by its spec; or a simple heuristic, if the agent's network cannot play.

A missing weights file, or one for another board, spoils no game: the stand-in plays, and the note says so.
"""

from dataclasses import dataclass

from env import Board
from experiments.playing.thought import Mind
from nn import BoardNet
from nn.weights import WeightsError
from rl.agents import PolicyAgent, make_agent

HUMAN = "human"
DEFAULT_AGENT = "alphabeta"  # the strongest that needs no file
ADVISER = "alphabeta:time=0.5"
STAND_IN = "threat"


@dataclass(frozen=True, eq=False)
class Player:
    """One side of a game.

    spec  what was asked for
    mind  the agent, None for a person
    net   a copy of the network the agent plays by, if it has one: to be looked at while the agent thinks
    note  why another than the asked for plays, or nothing
    """

    spec: str
    mind: Mind | None = None
    net: BoardNet | None = None
    note: str = ""

    @property
    def name(self) -> str:
        """What to call the player."""
        return HUMAN if self.mind is None else self.mind.agent.name


def seat(spec: str, board: Board) -> Player:
    """The player for a game on boards like this one. Raises AgentSpecError, EngineError if `spec` names nobody."""
    if spec == HUMAN:
        return Player(HUMAN)
    try:
        agent = make_agent(spec)
    except WeightsError as error:
        return stand_in(spec, str(error))
    net = getattr(agent, "net", None)
    if not isinstance(net, BoardNet):
        return Player(spec, Mind(agent))
    if isinstance(agent, PolicyAgent) and net.fits(board.height, board.width):
        return Player(spec, Mind(agent), agent.net_for(board.height, board.width).copy())
    if (net.height, net.width) != (board.height, board.width):
        sizes = f"{net.height}x{net.width} only; this board is {board.height}x{board.width}"
        return stand_in(spec, f"{spec} plays on {sizes}")
    return Player(spec, Mind(agent), net.copy())


def stand_in(spec: str, why: str) -> Player:
    """The player who takes the place of `spec`."""
    return Player(spec, Mind(make_agent(STAND_IN)), note=f"{why}; {STAND_IN} plays instead")
