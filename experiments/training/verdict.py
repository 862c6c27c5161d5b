"""How good a policy is, and the report that ends a run: against each agent, and on positions with a right answer.

The network plays alone, its largest preference, no search, in colour-swapped pairs from random openings.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from env import Board, Rule
from experiments.config import Config
from experiments.errors import UserError
from experiments.metrics import Row, read_metrics
from experiments.run_dir import RunDir
from experiments.strength.known_wins import SIZE, beginnings, begun
from experiments.training.beginning import initial_net
from experiments.training.learner import Learner
from nn import BoardNet
from nn.weights import replace_file
from rl.agents import PolicyAgent, make_agent
from rl.arena import compare, random_opening
from rl.league import POOL, SELF
from rl.tactical_suite import TacticalSuite, make_suite

SUITE_SIZE, SUITE_SEED = 300, 20  # the same positions for every run on the same board
SKILLS = {
    "win_in_one": "wins in one taken",
    "block_in_one": "single threats blocked",
    "stop_three": "open threes stopped",
    "own_four_first": "own four before their three",
    "double_threat": "double threats made",
}


def check_evaluation(config: Config) -> None:
    """Check that everybody whom the run is to meet plays on its board, and that the openings of evaluations fit it.

    Raises UserError, AgentSpecError, WeightsError or ArenaError; UserError, too, for known wins that cannot be read.
    """
    for name in {*config.evaluate_against, *config.opponents, config.drill_opponent} - {SELF, POOL}:
        agent = make_agent(name)
        if isinstance(agent, PolicyAgent) and not agent.net.fits(config.height, config.width):
            own = f"{agent.net.height}x{agent.net.width}"
            raise UserError(f"{name} plays on {own} only; the board is {config.height}x{config.width}")
    random_opening(lambda: new_board(config), config.evaluation_plies, np.random.default_rng(0))
    if config.known_wins:
        if (config.height, config.width, config.win_length) != (SIZE, SIZE, 5):
            raise UserError(f"known_wins {config.known_wins}: its positions are on {SIZE}x{SIZE}, five in a row")
        beginnings(Path(config.known_wins), Rule(config.rule))


def tactical_suite(learner: Learner) -> TacticalSuite:
    """The positions every policy for this board is asked about."""
    return make_suite(learner.new_games, SUITE_SIZE, np.random.default_rng(SUITE_SEED))


def evaluate(
    net: BoardNet, config: Config, suite: TacticalSuite, games: int, stream: int, run: RunDir | None = None
) -> Row:
    """The policy, argmax, against each agent of the configuration and on the tactical suite.

    `stream` chooses the openings, so that an evaluation depends on nothing that came before it. With `run`, its games
    are kept there.
    """
    agent, rng = PolicyAgent(net), np.random.default_rng([config.seed, 2, stream])
    found: Row = {}
    for name in config.evaluate_against:
        result = compare(
            agent,
            make_agent(name),
            games,
            new_board=lambda: new_board(config),
            opening_plies=config.evaluation_plies,
            rng=rng,
        )
        found[name] = result.as_dict()
        if run is not None:
            text = "".join(f"{record.to_line()}\n" for record in result.records)
            replace_file(run.games / f"{name.replace(':', '_').replace('/', '_')}.txt", text.encode())
    found["tactics"] = suite.score(agent, rng)
    if config.known_wins:
        found["known_wins"] = begun(agent, beginnings(Path(config.known_wins), Rule(config.rule)), rng)
    return found


def new_board(config: Config) -> Board:
    """An empty board of the configured game."""
    return Board(config.height, config.width, config.win_length, Rule(config.rule))


def verdict(learner: Learner, run: RunDir, suite: TacticalSuite) -> Row:
    """The trained policy and the untrained one, measured alike with many games; written to result.json."""
    config = learner.config
    result = {
        "trained": evaluate(learner.best_net(), config, suite, config.final_games, 0, run),
        "untrained": evaluate(initial_net(config), config, suite, config.final_games, 0),
    }
    replace_file(run.path / "result.json", (json.dumps(result, indent=2) + "\n").encode())
    return result


def verdict_table(result: Row) -> str:
    """The verdict as text: a line an opponent and a line a tactical skill, trained beside untrained."""
    trained, untrained = result["trained"], result["untrained"]
    lines = [f"{'':<28}{'trained':>28}{'untrained':>28}"]
    for name in trained:
        if name in ("tactics", "known_wins"):
            continue
        cells = (
            f"{of['win_rate']:>12.1%} ({of['low']:.1%}..{of['high']:.1%})" for of in (trained[name], untrained[name])
        )
        lines.append(f"{'wins against ' + name:<28}" + "".join(f"{cell:>28}" for cell in cells))
        for colour in ("as_black", "as_white"):
            both = (trained[name][colour]["win_rate"], untrained[name][colour]["win_rate"])
            lines.append(f"{'  ' + colour.replace('_', ' '):<28}" + "".join(f"{rate:>28.1%}" for rate in both))
    for key in trained["tactics"]:
        text = SKILLS.get(key, key)
        both = (trained["tactics"][key], untrained["tactics"][key])
        lines.append(f"{text:<28}" + "".join(f"{rate:>28.1%}" for rate in both))
    for length, share in trained.get("known_wins", {}).items():
        both = (share, untrained["known_wins"][length])
        lines.append(f"{'known wins begun, ' + length:<28}" + "".join(f"{rate:>28.1%}" for rate in both))
    return "\n".join(lines)


def report(learner: Learner, run: RunDir, suite: TacticalSuite) -> None:
    """Save the policy, measure it, draw the curve, and print where everything is."""
    from matplotlib.figure import Figure

    from experiments.pictures.figures import save_figure
    from experiments.plots import learning_curve

    config = learner.config
    learner.best_net().save(run.path / "policy.npz")
    against = ", ".join(config.evaluate_against)
    print(f"measuring: {config.final_games:,} games against each of {against} ...", flush=True)
    result = verdict(learner, run, suite)
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    learning_curve(figure.subplots(), read_metrics(run.metrics))
    save_figure(figure, run.curve)
    print(
        f"\n{config.height}x{config.width}, {config.win_length} in a row, {config.rule}: the network alone, argmax, "
        f"colour-swapped pairs from {config.evaluation_plies} random stones, 95 % intervals\n\n"
        f"{verdict_table(result)}\n\n"
        f"learning curve   {run.curve}\npolicy           {run.path / 'policy.npz'}\n"
        f"metrics          {run.metrics}\ngames            {run.games}/{_invitation(config, run)}"
    )


def _invitation(config: Config, run: RunDir) -> str:
    """How to play against the policy in a window, for boards that a command line can name."""
    if config.height != config.width:
        return ""
    rule = "" if config.rule == Rule.FREESTYLE.value else f" --rule {config.rule}"
    sizes = f"--size {config.height} --win-length {config.win_length}{rule}"
    return f"\nplay against it  gomoku gui --agent policy:{run.path / 'policy.npz'} {sizes}"
