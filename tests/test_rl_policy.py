"""The network as a player: every kind of network, and the mean over symmetric views."""

from pathlib import Path

import numpy as np
import pytest

from env import Board, Rule
from env.observation import PlanesError, Positions, positions_of
from env.symmetry import apply, apply_cell
from nn import NETS, BoardNet, PolicyNet, make_net
from nn.losses import masked_log_softmax
from rl.agents import AgentSpecError, PolicyAgent, make_agent
from rl.agents.policy import mean_log_p

SIZES = {
    "conv": {"filters": 4, "kernels": (3, 1)},
    "line": {"reach": 2, "hidden": 4, "features": 3},
    "residual": {"filters": 3, "blocks": 1},
    "policy_value": {"filters": 3, "blocks": 1},
}


def a_net(name: str = "policy", height: int = 5, width: int = 5, seed: int = 0) -> BoardNet:
    sizes = SIZES.get(name, {"filters": (4, 4), "hidden": 8})
    return make_net(name, height, width, rng=np.random.default_rng(seed), **sizes)


def some_positions(height: int = 5, width: int = 5, rule: Rule = Rule.FREESTYLE) -> Positions:
    rng = np.random.default_rng(3)
    boards = []
    for plies in (0, 1, 4, 7, 8):
        cells = rng.permutation(height * width)[:plies].tolist()
        boards.append(Board.from_moves(cells, height, width, 5, rule))
    return positions_of(boards)


def turned(k: int, positions: Positions) -> Positions:
    height, width = positions.planes.shape[2:]
    legal = apply(k, positions.legal.reshape(-1, height, width)).reshape(len(positions), -1)
    return Positions(np.ascontiguousarray(apply(k, positions.planes)), legal, positions.win_length, positions.rule)


@pytest.mark.parametrize(("height", "width"), [(5, 5), (5, 6)])
@pytest.mark.parametrize("name", ["policy", "three_plane"])
def test_the_mean_over_views_turns_with_the_board(name: str, height: int, width: int) -> None:
    positions, net = some_positions(height, width), a_net(name, height, width)
    straight = mean_log_p(net, positions).reshape(-1, height, width)
    agent, alone = PolicyAgent(net, views=8), PolicyAgent(net)
    moves = agent.choose_positions(positions, np.random.default_rng(0))
    moved = 0
    for k in range(8) if height == width else (0, 2, 4, 6):
        seen = turned(k, positions)
        assert np.allclose(mean_log_p(net, seen).reshape(-1, height, width), apply(k, straight), atol=1e-5)
        wanted = [apply_cell(k, int(cell), height, width) for cell in moves[1:]]  # the empty board has equal cells
        assert agent.choose_positions(seen, np.random.default_rng(0))[1:].tolist() == wanted
        wanted = [apply_cell(k, int(c), height, width) for c in alone.choose_positions(positions, None)]
        moved += alone.choose_positions(seen, None).tolist() != wanted
    assert moved, "a single view would not have turned with the board"


def test_the_mean_by_its_definition() -> None:
    positions, net = some_positions(), a_net()
    mean = mean_log_p(net, positions)
    for i in range(len(positions)):
        total = np.zeros(25)
        for k in range(8):
            logits = net.predict(apply(k, positions.planes[i : i + 1]))
            legal = apply(k, positions.legal[i].reshape(5, 5)).reshape(1, 25)
            log_p = masked_log_softmax(logits, legal)[0]
            for cell in np.flatnonzero(positions.legal[i]):
                total[cell] += log_p[apply_cell(k, int(cell), 5, 5)] / 8
        assert np.allclose(mean[i], total, atol=1e-5)
        assert (mean[i][~positions.legal[i]] == 0).all()


@pytest.mark.parametrize("name", [name for name, kind in NETS.items() if kind.HAS_POLICY])
@pytest.mark.parametrize("options", ["", ",views=8", ",temperature=0.5,views=8"])
def test_every_network_with_moves_plays_behind_policy(name: str, options: str, tmp_path: Path) -> None:
    net = a_net(name)
    net.save(tmp_path / "net.npz")
    agent = make_agent(f"policy:{tmp_path / 'net.npz'}{options}")
    positions = some_positions()
    cells = agent.choose_positions(positions, np.random.default_rng(0))
    assert positions.legal[np.arange(len(cells)), cells].all()
    if not options:
        log_p = masked_log_softmax(net.logits(positions.seen(net.planes)), positions.legal)
        assert cells.tolist() == log_p.argmax(axis=1).tolist()


def test_what_does_not_play(tmp_path: Path) -> None:
    path = tmp_path / "net.npz"
    a_net("value").save(path)
    with pytest.raises(AgentSpecError, match="holds a ValueNet"):
        make_agent(f"policy:{path}")
    PolicyNet(5, 5, planes=4, filters=(1, 1), hidden=1, rng=np.random.default_rng(0)).save(path)
    with pytest.raises(PlanesError, match="4 planes"):
        make_agent(f"policy:{path}").choose(Board(5, 5), np.random.default_rng(0))
    a_net().save(path)
    for views in ("2", "4", "0", "1.5", "nan"):
        with pytest.raises(AgentSpecError, match="1 or 8"):
            make_agent(f"policy:{path},views={views}")
    with pytest.raises(ValueError, match="1 or 8"):
        PolicyAgent(a_net(), views=4)
