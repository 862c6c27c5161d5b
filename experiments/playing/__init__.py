"""People and agents at one board: the game, what it asks of its players, what they think, and their clock.

Without a face: whoever shows it calls `session`, and a match manager's lines go to `protocol_game`.
"""
