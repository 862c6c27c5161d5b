"""What is seen and clicked: the window and its panels, and the board of a notebook, each a thin view of a game.

The game itself stands in experiments/playing.
"""
