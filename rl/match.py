"""The referee: two agents, a board, and the record of what happened.

Many games run side by side, so that an agent that decides in batches is asked once a ply for all its games.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from env import BLACK, Board, IllegalMoveError
from env.record import GameRecord
from rl.agents.base import Agent
from rl.sampling import RandomSource


def play_games(
    seats: Sequence[tuple[Agent, Agent]],
    boards: Sequence[Board],
    rng: RandomSource,
    finished: Callable[[int], None] | None = None,
) -> list[GameRecord]:
    """Play one game a board to its end; seats[i] = (black, white) of boards[i], which are left as they were.

    Each ply asks every agent once for all the games in which it is to move, agents in order of first appearance.
    `finished(n)` is called as n more games end. Returns the records in order; stones already on a board count as its
    opening. Raises IllegalMoveError, naming the agent, if one chooses a cell it may not play.
    """
    if len(seats) != len(boards):
        raise ValueError(f"{len(seats)} pairs of players for {len(boards)} boards; there must be one each")
    games = [board.copy() for board in boards]
    agents = list(dict.fromkeys(agent for pair in seats for agent in pair))
    running = [i for i, game in enumerate(games) if game.outcome is None]
    while running:
        to_move = {i: seats[i][0 if games[i].to_move == BLACK else 1] for i in running}
        for agent in agents:
            its_games = [i for i in running if to_move[i] is agent]
            if not its_games:
                continue
            cells = _choices(agent, [games[i] for i in its_games], rng)
            for i, cell in zip(its_games, cells, strict=True):
                try:
                    games[i].play(cell)
                except IllegalMoveError as error:
                    raise IllegalMoveError(f"{_name(agent)}: {error}") from error
        still = [i for i in running if games[i].outcome is None]
        if finished is not None and len(still) < len(running):
            finished(len(running) - len(still))
        running = still
    return [
        _record(game, black, white, opening=len(board.moves))
        for game, board, (black, white) in zip(games, boards, seats, strict=True)
    ]


def play_game(black: Agent, white: Agent, board: Board, rng: RandomSource) -> GameRecord:
    """Play one game from `board`, which is left as it was, to its end."""
    return play_games([(black, white)], [board], rng)[0]


def _choices(agent: Agent, boards: Sequence[Board], rng: RandomSource) -> Sequence[int]:
    """One cell a board; whoever is no Agent of ours need not know how to answer for many."""
    if hasattr(agent, "choose_many"):
        return agent.choose_many(boards, rng)
    return [agent.choose(board, rng) for board in boards]


def _name(agent: Agent) -> str:
    return getattr(agent, "name", type(agent).__name__)


def _record(game: Board, black: Agent, white: Agent, opening: int) -> GameRecord:
    assert game.outcome is not None
    return GameRecord(
        height=game.height,
        width=game.width,
        win_length=game.win_length,
        rule=game.rule,
        moves=tuple(game.moves),
        black=_name(black),
        white=_name(white),
        winner=game.outcome.winner,
        opening=opening,
    )
