"""The commands of `gomoku`, a line of a table each: where it lives and what its help teaches.
A command's module has `add_arguments(parser)` and `run(args) -> int`.
"""

from typing import NamedTuple


class Command(NamedTuple):
    """One line of the table: where the command lives and what its help teaches."""

    module: str
    summary: str
    description: str
    example: str


COMMANDS = {
    "train": Command(
        "experiments.train",
        "train a policy by REINFORCE self-play",
        "Train a policy network from scratch by reward alone: against itself, past selves and named agents, after\n"
        "drills from positions with a win or a threat if the configuration says so. Everything the run produces goes\n"
        "into one run directory; Ctrl-C saves and stops, --resume continues bit for bit. All settings for --set, with\n"
        "what they mean, stand in experiments/config.py.",
        "gomoku train --preset quick --seed 1",
    ),
    "sweep": Command(
        "experiments.sweep",
        "train with several values of a setting, several seeds",
        "Train once for every combination of the values given and every seed, several runs at a time, each in a run\n"
        "directory of its own. At the end a table says the mean and the range over the seeds, and a picture shows the\n"
        "learning curves. Ctrl-C stops; --resume goes on, keeps what is finished and continues what is not.",
        "gomoku sweep --preset quick --vary learning_rate=1e-3,3e-4 --seeds 3 --jobs 2",
    ),
    "generate": Command(
        "experiments.generate",
        "write down how a teacher plays",
        "Play a teacher, any agent, against itself, and write the positions, its moves and, if it values cells, its\n"
        "soft scores to an .npz for pretrain. Games that nobody wins, or that repeat another, are dropped and counted.",
        "gomoku generate games.npz --teacher summed --games 2000",
    ),
    "pretrain": Command(
        "experiments.pretrain",
        "teach a policy by imitation",
        "Make a network's preferences those of a teacher: of one that labels positions on the fly (many of them met\n"
        "by the network's own play), of examples that generate wrote, or of recorded games (SGF, .psq, folders).\n"
        "Everything goes into a run directory; Ctrl-C saves and stops after the epoch, --resume continues bit for bit.",
        "gomoku pretrain --from games.npz --epochs 50 --schedule steps",
    ),
    "train-value": Command(
        "experiments.train_value",
        "learn how well a side stands, for tree search",
        "Let a policy play, mostly against itself, and learn from how the games ended who stands better in their\n"
        "quiet positions. A tenth of the games is kept apart and says what was learnt. Ctrl-C while it learns writes\n"
        "the network as it is. mcts:POLICY.npz,value=VALUE.npz searches with both.",
        "gomoku train-value policy.npz -o value.npz --games 5000",
    ),
    "train-q": Command(
        "experiments.train_q",
        "learn a small board by Q-learning",
        "Learn what each move is worth in each position, in a table: from its own games or from games with an agent,\n"
        "one move after the other. The table and a picture of its curve are written at every measurement and Ctrl-C;\n"
        "a table that is there is learnt on. gomoku evaluate qlearning:FILE plays with it.",
        "gomoku train-q q.npz --games 20000 --seed 1",
    ),
    "evaluate": Command(
        "experiments.evaluate",
        "measure one agent against another",
        "Play colour-swapped pairs of games, each pair from its own opening, random or of a file, and print the\n"
        "win rate with its 95 % interval. A draw is no win. A fault of an agent loses it the game.",
        "gomoku evaluate greedy --against random --games 200 --size 9",
    ),
    "tournament": Command(
        "experiments.tournament",
        "rate several agents by their games",
        "Play colour-swapped pairs of games between every two of the agents, from random openings without a quick win\n"
        "or from a file, and print Elo ratings with 95 % intervals, the results by colour and what moving first is\n"
        "worth. Every finished pair is kept: --resume goes on after Ctrl-C or a kill and plays none of them again.",
        "gomoku tournament random greedy greedy:sharp --games 40 --size 9 --jobs 2",
    ),
    "plot": Command(
        "experiments.draw",
        "draw learning curves, games and networks",
        "Draw the win rate of one run, or of several runs of one experiment (mean and band over the seeds),\n"
        "against the number of games played; or, by --kind, another view of a run, of games or of a network.",
        "gomoku plot runs/quick__s1__* -o curve.png",
    ),
    "show": Command(
        "experiments.show",
        "print or draw a recorded game, or convert it",
        "Print a game from an SGF file, a .psq file of the Piskvork manager or lines of text (--save-games),\n"
        "with a move number in every stone; or draw it; or write the games in another of these formats.\n"
        "Of an SGF file the main line of each game is read; variations are not shown.",
        "gomoku show game.sgf --ply 20 -o game.png",
    ),
    "export": Command(
        "experiments.export",
        "write a network or a run for other programs",
        "Write a network as an ONNX graph (onnx WEIGHTS), which other programs can run, or a run's metrics as an\n"
        "event file for TensorBoard (tensorboard RUN). Each needs a package that does not come along; what, is said.",
        "gomoku export onnx runs/quick__s1__20261129T201500Z/policy.npz -o policy.onnx",
    ),
    "play": Command(
        "experiments.play",
        "play against an agent in the terminal",
        "Type a crossing such as h8 to put your stone there; undo, hint, resign, new, save, load, help, quit do what\n"
        "they say. It works through a pipe too. Against a network the board is the one it was made for.",
        "gomoku play --agent threat --colour white --rule renju",
    ),
    "gui": Command(
        "experiments.gui",
        "play in a window",
        "Click a crossing to put your stone there. Opponent, side, rule and size are chosen beside the board. Hints,\n"
        "a network's preferences and how the game goes are shown, games are opened and saved as SGF, and the rules of\n"
        "the alpha-beta player have sliders. Where there is no display, `gomoku play` plays in the terminal.",
        "gomoku gui --agent threat --rule renju",
    ),
    "analyse": Command(
        "experiments.analyse",
        "look ahead from a position",
        "Search a position deeper and deeper, in the 12 most promising cells of each, and print, at each depth, the\n"
        "score in points to the side to move, the nodes, nodes a second and the line of best play. Ctrl-C stops and\n"
        "prints the best so far.",
        "gomoku analyse h8i9h10h9g9i11 --rule renju --time 20",
    ),
    "rules": Command(
        "experiments.rules",
        "check, time, match and explain evaluation rules",
        "The rules that alphabeta evaluates by are a JSON file that may be edited while it plays. Begin with what\n"
        "`gomoku rules default` prints; check it; bench it on random openings; compare it with the old one in\n"
        "colour-swapped pairs; explain which rule counts which stones of a position.",
        "gomoku rules compare default mine.json --games 100",
    ),
    "brain": Command(
        "experiments.brain",
        "speak the Gomocup protocol",
        "Play for a match manager: commands of the Gomocup protocol on standard input, moves on standard output, for\n"
        "boards of 5 to 20, freestyle, standard and renju. Any agent plays; the clock that the manager sets is kept.",
        "gomoku brain --agent greedy:sharp --log brain.log",
    ),
    "info": Command(
        "experiments.info",
        "show what a network is made of",
        "Print the layers of a network with the shapes between them, its parameters and the multiply-adds of one\n"
        "look at a board, layer by layer, with the formulas they come from.",
        "gomoku info runs/quick__s1__20261129T201500Z/policy.npz",
    ),
    "demo": Command(
        "experiments.demo",
        "play the reference game of the Java program",
        "Play the game of the reference Java program, move by move, and print the same bytes.",
        "gomoku demo --layer-seeds 1 2 3 4",
    ),
    "bench": Command(
        "experiments.bench",
        "time everything, against PyTorch if it is installed",
        "Time forward passes, training steps, self-play, greedy and the cost of size on one thread, in turns with\n"
        "PyTorch and with the readable layers, and say what fraction of this machine's best product is reached.",
        "gomoku bench training --json bench.json",
    ),
    "scale": Command(
        "experiments.scale",
        "measure what more processes bring, and model many machines",
        "Measure what self-play and learning cost, how many games a second 1, 2 and 4 processes play alone and in\n"
        "training, and hold a model and its simulation against that: where the learner is the narrow place, and what\n"
        "training on a thousand cores would need. Wants idle cores and takes some minutes.",
        "gomoku scale --preset quick --picture scale.png",
    ),
    "parity": Command(
        "experiments.parity",
        "compare with the Java program, bit for bit",
        "Go through every golden file of the Java program in a directory and print, stage by stage, how many\n"
        "values were compared and how many differ. Any mismatch exits 1.",
        "gomoku parity tests/data/parity",
    ),
}
