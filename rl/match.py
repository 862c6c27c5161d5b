"""The referee: two agents, a board, and the record of what happened.

Many games run side by side, so that an agent that decides in batches is asked once a ply for all its games. A fault
of an agent ends the match, or, if asked for, only its game: the agent forfeits it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from env import BLACK, Board, IllegalMoveError
from env.record import GameRecord
from rl.agents.base import Agent
from rl.sampling import RandomSource

LONGEST_NOTE = 300


def play_games(
    seats: Sequence[tuple[Agent, Agent]],
    boards: Sequence[Board],
    rng: RandomSource,
    finished: Callable[[int], None] | None = None,
    *,
    forfeits: bool = False,
) -> list[GameRecord]:
    """Play one game a board to its end; seats[i] = (black, white) of boards[i], which are left as they were.

    Each ply asks every agent once for all the games in which it is to move, agents in order of first appearance.
    `finished(n)` is called as n more games end. Returns the records in order; stones already on a board count as its
    opening. Raises IllegalMoveError, naming the agent, if one chooses a cell it may not play; with `forfeits`, it loses
    that game instead, and so it does by any exception, and the record's note says why.
    """
    if len(seats) != len(boards):
        raise ValueError(f"{len(seats)} pairs of players for {len(boards)} boards; there must be one each")
    games = [board.copy() for board in boards]
    agents = list(dict.fromkeys(agent for pair in seats for agent in pair))
    faults: dict[int, str] = {}  # games lost by a fault of the side to move, and what it was
    running = [i for i, game in enumerate(games) if game.outcome is None]
    while running:
        to_move = {i: seats[i][0 if games[i].to_move == BLACK else 1] for i in running}
        for agent in agents:
            its_games = [i for i in running if to_move[i] is agent]
            if not its_games:
                continue
            choose = _choices_or_faults if forfeits else _choices
            for i, cell in zip(its_games, choose(agent, [games[i] for i in its_games], rng), strict=True):
                try:
                    if isinstance(cell, Exception):
                        raise cell
                    games[i].play(cell)
                except Exception as error:
                    if forfeits:
                        faults[i] = _fault(agent, error)
                    elif isinstance(error, IllegalMoveError):
                        raise IllegalMoveError(f"{_name(agent)}: {error}") from error
                    else:
                        raise
        still = [i for i in running if games[i].outcome is None and i not in faults]
        if finished is not None and len(still) < len(running):
            finished(len(running) - len(still))
        running = still
    return [
        _record(game, black, white, len(board.moves), faults.get(i, ""))
        for i, (game, board, (black, white)) in enumerate(zip(games, boards, seats, strict=True))
    ]


def play_game(black: Agent, white: Agent, board: Board, rng: RandomSource) -> GameRecord:
    """Play one game from `board`, which is left as it was, to its end."""
    return play_games([(black, white)], [board], rng)[0]


def _choices(agent: Agent, boards: Sequence[Board], rng: RandomSource) -> Sequence[int]:
    """One cell a board; whoever is no Agent of ours need not know how to answer for many."""
    if hasattr(agent, "choose_many"):
        return agent.choose_many(boards, rng)
    return [agent.choose(board, rng) for board in boards]


def _choices_or_faults(agent: Agent, boards: Sequence[Board], rng: RandomSource) -> Sequence[int | Exception]:
    """One cell a board, or the exception that came instead; one answer for all failing, each is asked alone."""
    try:
        cells = _choices(agent, boards, rng)
        if len(cells) != len(boards):
            raise ValueError(f"{len(cells)} cells for {len(boards)} boards")
        return cells
    except MemoryError:
        raise
    except Exception as error:
        if len(boards) == 1:
            return [error]
    return [_choices_or_faults(agent, [board], rng)[0] for board in boards]


def _name(agent: Agent) -> str:
    return getattr(agent, "name", type(agent).__name__)


def _fault(agent: Agent, error: Exception) -> str:
    kind = "" if isinstance(error, IllegalMoveError) else f"{type(error).__name__}: "
    return f"{_name(agent)} forfeits: {kind}{' '.join(str(error).split())}"[:LONGEST_NOTE]


def _record(game: Board, black: Agent, white: Agent, opening: int, fault: str) -> GameRecord:
    assert fault or game.outcome is not None, "a game that is over neither on the board nor by a fault"
    winner = -game.to_move if game.outcome is None else None
    return GameRecord.of(game, _name(black), _name(white), winner, opening, fault)
