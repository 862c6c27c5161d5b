# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The board and its rules
#
# Five in a row wins. That is nearly all, and the "nearly" is this lesson: what a line of six is worth, and which points
# renju forbids to black. Everything is drawn, and everything is asked of `env/board.py`.

# %%
import numpy as np
from matplotlib import pyplot as plt

from env import BLACK, WHITE, Board, ForbiddenMoveError, GameRecord, IllegalMoveError, Lockstep, Rule
from env.coords import cell_name, parse_cell
from env.observation import planes
from env.render import board_pixels, board_text
from env.symmetry import SYMMETRIES, apply, apply_cell

BLUE, ORANGE = "#0072B2", "#E69F00"

# %% [markdown]
# ## Names
#
# A crossing is a number for the program and a name for people: column letter from the left, row number from the bottom.
# Numbers go row by row from the top. **Which number has h8**, the middle of 15 x 15?

# %%
assert parse_cell("h8", 15, 15) == 7 * 15 + 7 == 112
assert cell_name(0, 15, 15) == "a15"

board = Board()  # 15 x 15, five in a row, freestyle
for name in "h8 i9 h9 h7 i8".split():
    board.play(parse_cell(name, 15, 15))
print(board_text(board))

# %% [markdown]
# A refused move changes nothing and says what was wrong. `undo` takes the last move back.

# %%
try:
    board.play(parse_cell("h8", 15, 15))
except IllegalMoveError as error:
    print(error)
before = board.copy()
board.play(board.undo())
assert board == before

# %% [markdown]
# ## Three rules, one line of six
#
# Black fills the gap at f8 and has six in a row. **Who says it is a win?**

# %%
stones = "c8 c1 d8 e1 e8 g1 g8 i1 h8 k1".split()  # black, white, black, ...
figure, axes = plt.subplots(1, 3, figsize=(10.5, 1.7), layout="constrained")
said = {}
for ax, rule in zip(axes, Rule):
    board = Board.from_moves([parse_cell(name, 15, 15) for name in stones], rule=rule)
    try:
        board.play(parse_cell("f8", 15, 15))
        said[rule] = "black wins" if board.outcome else "no win, the game goes on"
    except ForbiddenMoveError:
        said[rule] = "f8 is forbidden"
        ax.text(5, 7, "6", ha="center", va="center", color="#B00000", fontweight="bold")
    ax.imshow(board_pixels(board, cell=24)[5 * 24 : 9 * 24], extent=(-0.5, 14.5, 8.5, 4.5))
    ax.set(title=f"{rule.value}: {said[rule]}", xticks=range(0, 15, 2), yticks=range(5, 9), xlabel="column")
    ax.set_xticklabels("acegikmo")
    ax.set_yticklabels(range(10, 6, -1))
axes[0].set_ylabel("row")
assert list(said.values()) == ["black wins", "no win, the game goes on", "f8 is forbidden"]

# %% [markdown]
# Freestyle: five *or more*. Standard: exactly five. Renju: exactly five for black, who may not even play there; white may,
# and wins.
#
# ## Renju's forbidden points
#
# Black moves first, and in freestyle that wins. Renju takes away black's strongest moves, the double threats:
#
# * **33**, two open threes at once (one more stone makes a four that is open at both ends);
# * **44**, two fours at once;
# * **6**, an overline.
#
# Two fours are decisive for white, too. Only black has to do without. **Where are the forbidden points** in these three?
# (White's stones stand in the corners, out of the way.)

# %%
shapes = {
    "two threes": "f8 a1 g8 a15 h6 o1 h7 o15",
    "two fours": "e8 a1 f8 a15 g8 o1 h5 o15 h6 a2 h7 o2",
    "six": "c8 a1 d8 a15 e8 o1 g8 o15 h8 a2",
}
figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
found = {}
for ax, (name, moves) in zip(axes, shapes.items()):
    board = Board.from_moves([parse_cell(move, 15, 15) for move in moves.split()], rule=Rule.RENJU)
    found[name] = {cell_name(cell, 15, 15): kind.code for cell, kind in board.forbidden().items()}
    ax.imshow(board_pixels(board, cell=24), extent=(-0.5, 14.5, 14.5, -0.5))
    for cell, kind in board.forbidden().items():
        ax.text(cell % 15, cell // 15, kind.code, ha="center", va="center", color="#B00000", fontweight="bold",
                bbox={"boxstyle": "circle,pad=0.1", "facecolor": "#DEB270", "edgecolor": "none"})
    ax.set(title=name, xticks=range(0, 15, 2), yticks=range(0, 15, 2))
    ax.set_xticklabels("acegikmo")
    ax.set_yticklabels(range(15, 0, -2))
print(found)
assert found["two threes"] == {"h8": "33"} and found["two fours"] == {"h8": "44"} and found["six"] == {"f8": "6"}

# %% [markdown]
# ## When is a three a three?
#
# We take the two threes again and add stones. **Is h8 still forbidden** if white has h9? And if black has c8 and k8 as
# well?

# %%
puzzles = {
    "white h9": "f8 a1 g8 a15 h6 o1 h7 h9",
    "black c8 and k8": "f8 a1 g8 a15 h6 o1 h7 o15 c8 a2 k8 o2",
}
figure, axes = plt.subplots(1, 2, figsize=(7.6, 3.9), layout="constrained")
for ax, (name, moves) in zip(axes, puzzles.items()):
    board = Board.from_moves([parse_cell(move, 15, 15) for move in moves.split()], rule=Rule.RENJU)
    assert board.forbidden() == {}
    ax.imshow(board_pixels(board, cell=24), extent=(-0.5, 14.5, 14.5, -0.5))
    ax.text(7, 7, "?", ha="center", va="center", color="#005000", fontsize=15, fontweight="bold")
    ax.set(title=f"{name}: h8 is allowed", xticks=range(0, 15, 2), yticks=range(0, 15, 2))
    ax.set_xticklabels("acegikmo")
    ax.set_yticklabels(range(15, 0, -2))

# %% [markdown]
# Both times one of the threes is none. With white on h9 the column can never become a four with two open ends. With black
# on c8 *and* k8 the row cannot either: wherever the fourth stone goes, one end of the four would complete not five but
# six. More black stones made the point legal.
#
# It gets deeper: a three counts only if the stone that would make it a four is itself allowed, which may hang on another
# three, and so on. `env/renju.py` holds the rule literally and a fast twin, and tests compare them.
#
# One thing stands above all: five wins. **Is h8 forbidden** if it completes a five and two threes at once?

# %%
threes = Board.from_moves([parse_cell(move, 15, 15) for move in "h6 a2 h7 o2 i9 a3 j10 o3".split()], rule=Rule.RENJU)
assert parse_cell("h8", 15, 15) in threes.forbidden()  # two threes, and no five

moves = "f8 a1 g8 a15 e8 o1 d8 o15 h6 a2 h7 o2 i9 a3 j10 o3".split()
board = Board.from_moves([parse_cell(move, 15, 15) for move in moves], rule=Rule.RENJU)
assert parse_cell("h8", 15, 15) not in board.forbidden()
board.play(parse_cell("h8", 15, 15))
assert board.outcome.winner == BLACK
print("won with", " ".join(cell_name(cell, 15, 15) for cell in board.outcome.line))

# %% [markdown]
# ## What the network sees
#
# Two planes, the own stones first, and a mask of what may be played. After every move the planes change places: black's
# network is white's network. Forbidden points are simply not in the mask.

# %%
board = Board.from_moves([parse_cell(move, 15, 15) for move in shapes["two threes"].split()], rule=Rule.RENJU)
x, mask = planes(board), board.legal_mask()  # (2, 15, 15), (225,)
assert mask.sum() == 225 - 8 - 1  # eight stones and one forbidden point
board.play(parse_cell("h9", 15, 15))
assert np.array_equal(planes(board)[0], x[1])  # white to move: white's stones are now the first plane

figure, axes = plt.subplots(1, 3, figsize=(10, 3.5), layout="constrained")
for ax, picture, name in zip(axes, [x[0], x[1], mask.reshape(15, 15)], ["own stones", "the other's", "may be played"]):
    ax.imshow(picture, cmap="Blues", vmax=1.4)
    ax.set(title=name, xlabel="column", ylabel="row", xticks=range(0, 15, 2))

# %% [markdown]
# ## Eight boards in one
#
# Turn or mirror a board, and the game is the same. Training shows the network each position in one of these eight ways.

# %%
figure, axes = plt.subplots(1, 8, figsize=(11, 1.8), layout="constrained")
marked = np.zeros((5, 5))
marked[0, 0], marked[0, 1], marked[1, 0], marked[0, 2] = 3, 2, 1, 2
for k, ax in zip(SYMMETRIES, axes):
    ax.imshow(apply(k, marked), cmap="Blues", vmax=4)
    row, col = divmod(apply_cell(k, 0, 5, 5), 5)
    ax.plot(col, row, marker="o", color=ORANGE)
    ax.set(title=f"k = {k}", xticks=[], yticks=[])
    assert apply(k, marked)[row, col] == 3  # moves turn along with the board
axes[0].set_xlabel("dot: a5 before", fontsize=8);

# %% [markdown]
# ## Every game there is
#
# Three in a row on 3 x 3 is small enough to play *all* games. `Lockstep` plays many at once: we take every unfinished game
# and every move in it, ply by ply. **How many games are there?** Fewer than 9! = 362,880, since some end early. **And who
# wins more of them?**

# %%
games = Lockstep(1, 3, 3, 3)
counts = np.zeros((3, 10), dtype=int)  # won by black, won by white, drawn; by length
for ply in range(1, 10):
    parents, cells = np.nonzero(games.legal)  # every legal move of every game
    games = games.take(parents)
    games.play(cells)
    for line, ended in zip(counts, (games.winner == BLACK, games.winner == WHITE, games.over & (games.winner == 0))):
        line[ply] = ended.sum()
    games = games.take(np.flatnonzero(~games.over)) if not games.over.all() else games
print(f"black wins {counts[0].sum():,}, white wins {counts[1].sum():,}, drawn {counts[2].sum():,}: {counts.sum():,} games")
assert counts.sum(axis=1).tolist() == [131_184, 77_904, 46_080]

figure, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
bottom = np.zeros(10)
for line, colour, name in zip(counts, ("0.15", "0.75", ORANGE), ("black wins", "white wins", "drawn")):
    ax.bar(range(10), line, bottom=bottom, color=colour, label=name)
    bottom += line
ax.set(xlabel="length of the game (plies)", ylabel="games", xlim=(4, 10))
ax.yaxis.set_major_formatter("{x:,.0f}")
ax.grid(axis="y", alpha=0.3)
ax.legend();

# %% [markdown]
# Moving first is worth a lot: lesson 08 measures how much on a larger board.
#
# ## A game as a line of text
#
# Recorded games are lines, which people can read and programs can replay.

# %%
moves = tuple(parse_cell(name, 3, 3) for name in "b2 a3 c1 b3 c3".split())
record = GameRecord(3, 3, 3, Rule.FREESTYLE, moves, "me", "you", 0)
print(record.to_line())
assert GameRecord.from_line(record.to_line()) == record
print(board_text(record.replay()))
