"""Who plays and how it improves: agents, matches, self-play, REINFORCE, and the arena that measures it all.

Nothing here reads argv, opens a plot or seeds a generator; `experiments/` does, and hands in what is needed.

Reading order: sampling · agents (base, random, greedy, policy) · match · selfplay · league · returns · baseline ·
reinforce · drill · tactics · arena · elo · sprt · fleet · openings · pairs. A "game" is one of E played in lockstep, a
"ply" one stone, T the number of recorded decisions, P puzzles with K tries each.
"""
