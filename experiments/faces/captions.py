"""What a window says in words: whose turn it is or how the game ended, and what a search has found."""

from env.coords import cell_name
from env.render import COLOUR_NAMES
from experiments.playing.outlook import score_text
from experiments.playing.session import GameSession
from experiments.playing.thought import Thought
from rl.search.minimax import DECIDED

MOST_MOVES = 12  # of a line of best play: what two lines of the panel hold


def headline(session: GameSession) -> str:
    """What to say above all: whose turn it is, or how it ended, for the person if there is exactly one."""
    game = session.game
    if game.is_over and len(game.people) == 1:
        said = {0: "A draw.", game.people[0]: "You have won."}.get(game.winner or 0, "You have lost.")
        return f"{said}\n{game.status}."
    return f"{game.status[0].upper()}{game.status[1:]}."


def search_text(thought: Thought | None) -> str:
    """How deep a search has looked, what the side to move may expect, the line of best play; nothing without one."""
    if thought is None or thought.insight is None:
        return ""
    board, found = thought.board, thought.insight
    side = COLOUR_NAMES[board.to_move]
    names = " ".join(cell_name(cell, board.height, board.width) for cell in found.line[:MOST_MOVES])
    more = " ..." if len(found.line) > MOST_MOVES else ""
    score = score_text(found.worth) + (" points" if abs(found.worth) <= DECIDED else "")
    return f"Search for {side}, depth {found.depth}: {score}\n{found.nodes:,} positions; {names}{more}"
