"""Who is how strong: who meets whom, what their games say, and how sure that is.

Agents are measured in colour-swapped pairs, runs over their seeds, and players of forced wins on positions known.
"""
