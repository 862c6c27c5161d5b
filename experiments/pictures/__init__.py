"""What is drawn, Axes in, Axes out: boards, games, networks, tournaments, experiments side by side.

The curves of one run stand in experiments/plots.py. The same function draws in a file and in a notebook.
"""
