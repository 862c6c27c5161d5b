"""What each golden file of the Java program asks, and this program's answers; one function per file.

Those about the game stand in game_stages.py beside it, those about numbers and the network here. Everything must be
equal bit for bit; only `exp`, and what is made from it, has a tolerance.
"""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np

from experiments.errors import UserError
from experiments.java.border import PLAYER, java_net, java_probs, java_state, winner
from experiments.java.demo_game import demo_text, java_board_text
from experiments.java.game_stages import env, greedy, replayed, selfplay
from experiments.java.golden import Entry, both, brief, doubles, net_key, net_seeds
from experiments.java.tally import Row
from nn.exact import exact_outputs, java_argmax, java_sample_action, java_softmax
from nn.init import he_normal
from nn.java_random import JavaRandom

EXP_TOLERANCE = 1e-15  # relative, for exp and the probabilities made from it
NET_SHAPES = {"conv1": (16, 2, 3, 3), "conv2": (32, 16, 3, 3), "fc1": (7200, 256), "fc2": (256, 225)}
LAYERS = {"conv1": 1, "conv2": 3, "fc1": 5, "fc1_relu": 6, "logits": 7}  # whose output, among the net's layers


def random(row: Row, golden: Entry, _: Path) -> None:
    """Compare every kind of draw of the generator, alone and mixed."""
    parts = golden.record("seeds", "mixed")
    for entry in parts["seeds"].entries():
        with row.guarded():
            random_seed(row, entry)
    for entry in parts["mixed"].entries():
        with row.guarded():
            mixed = entry.record("seed", "calls")
            rng = JavaRandom(mixed["seed"].integer())
            for call in mixed["calls"].entries():
                mixed_call(row, call, rng)


def random_seed(row: Row, entry: Entry) -> None:
    """Compare the lists of one seed; each starts with a fresh generator."""
    names = ["seed", "nextInt", "nextInt_bound", *both("nextDouble", "nextGaussian")]
    names += ["nextGaussian_20001_sha256", "after_20001_nextGaussian", "nextDouble_20001_sha256"]
    record = entry.record(*names)
    seed = record["seed"].integer()
    rng = JavaRandom(seed)
    row.same(record["nextInt"], [rng.next_int() for _ in record["nextInt"].entries()])
    for part in record["nextInt_bound"].entries():
        fields = part.record("bound", "values")
        bound, rng = fields["bound"].integer(1, 2**31 - 1), JavaRandom(seed)
        row.same(fields["values"], [rng.next_int(bound) for _ in fields["values"].entries()])
    for name, one, many in [
        ("nextDouble", JavaRandom.next_double, JavaRandom.random),
        ("nextGaussian", JavaRandom.next_gaussian, JavaRandom.standard_normal),
    ]:
        wanted, rng = doubles(record, name), JavaRandom(seed)
        row.numbers(f"{entry.where}.{name}_hex", wanted, np.array([one(rng) for _ in wanted]))
        row.numbers(f"{entry.where}.{name}_hex", wanted, many(JavaRandom(seed), len(wanted)))
        rng = JavaRandom(seed)
        row.digest(record[f"{name}_20001_sha256"], many(rng, 20001))
    after = record["after_20001_nextGaussian"].record("nextInt", "nextGaussian_hex", "nextDouble_hex")
    row.same(after["nextInt"], rng.next_int())
    row.number(after["nextGaussian_hex"], rng.next_gaussian())  # the kept one: 20001 is odd
    row.number(after["nextDouble_hex"], rng.next_double())


def mixed_call(row: Row, call: Entry, rng: JavaRandom) -> None:
    """Make one call of a mixed sequence and compare its result."""
    name, argument, result = call.entries(3)
    match name.value:
        case "setSeed":
            rng.set_seed(argument.integer())
            row.same(result, None)
        case "nextInt":
            row.same(result, rng.next_int(None if argument.value is None else argument.integer(1, 2**31 - 1)))
        case "nextDouble":
            row.same(argument, None)
            row.number(result, rng.next_double())
        case "nextGaussian":
            row.same(argument, None)
            row.number(result, rng.next_gaussian())
        case _:
            raise name.damage("setSeed, nextInt, nextDouble or nextGaussian", name.value)


def weights(row: Row, golden: Entry, _: Path) -> None:
    """Compare the starting weights of the four layers, and of layers of other shapes."""
    names = ["layer", "kind", "seed", "shape", "count", "scale_hex", *both("first", "last"), "sha256"]
    for entry in golden.record("layers")["layers"].entries():
        with row.guarded():
            record = entry.record(*names)
            kind = record["kind"].string("conv|fc")
            shape = tuple(record["shape"].integers(4 if kind == "conv" else 2, 1, 10**7))
            named = None if record["layer"].value is None else NET_SHAPES.get(record["layer"].string())
            if record["layer"].value is not None and named != shape:
                raise record["layer"].damage("the name of a layer of this shape, or null", record["layer"].value)
            row.same(record["count"], math.prod(shape))
            if math.prod(shape) > 10**8:
                raise record["shape"].damage("at most 10^8 weights", shape)
            fan_in = math.prod(shape[1:]) if kind == "conv" else shape[0]
            drawn = he_normal(shape, fan_in, JavaRandom(record["seed"].integer()), np.float64).ravel()
            row.number(record["scale_hex"], math.sqrt(2 / fan_in))
            few = min(16, len(drawn))
            row.numbers(f"{entry.where}.first_hex", doubles(record, "first"), drawn[:few])
            row.numbers(f"{entry.where}.last_hex", doubles(record, "last"), drawn[-few:])
            row.digest(record["sha256"], drawn)


def forward(row: Row, golden: Entry, _: Path) -> None:
    """Compare every activation of the network at every position, the probabilities and the likeliest cell."""
    parts = golden.record("nets", "positions")
    nets = [net_key(entry) for entry in parts["nets"].entries()]
    names = ["net", "moves", "current_player", "game_over", "winner", "sha256", "argmax"]
    names += both("conv1_first", "conv2_last", "fc1_first", "logits", "probs")
    for entry in parts["positions"].entries():
        with row.guarded():
            record = entry.record(*names)
            board = replayed(record["moves"])
            row.same(record["current_player"], PLAYER[board.to_move])
            row.same(record["game_over"], board.is_over)
            row.same(record["winner"], winner(board))
            net = java_net(*nets[record["net"].integer(0, len(nets) - 1)])
            state = java_state(board)
            outputs = exact_outputs(net, state[None])
            arrays = {name: outputs[layer][0] for name, layer in LAYERS.items()}
            sums = record["sha256"].record("state", *arrays, "probs")
            row.digest(sums["state"], state)
            for name, array in arrays.items():
                row.digest(sums[name], array)
            for name, part in [
                ("conv1_first", arrays["conv1"].ravel()[:8]),
                ("conv2_last", arrays["conv2"].ravel()[-8:]),
                ("fc1_first", arrays["fc1"][:8]),
                ("logits", arrays["logits"]),
            ]:
                row.numbers(f"{entry.where}.{name}_hex", doubles(record, name), part)
            golden_probs, probs = doubles(record, "probs"), java_probs(arrays["logits"], board)
            row.numbers(f"{entry.where}.probs_hex", golden_probs, probs, EXP_TOLERANCE)
            row.digest(sums["probs"], golden_probs)  # of the file's own numbers: another exp gives other last bits
            row.same(record["argmax"], java_argmax(probs))


def functions(row: Row, golden: Entry, _: Path) -> None:
    """Compare exp, softmax, argmax, sampling and the text board."""
    parts = golden.record("exp", "softmax", "sample_action", "print_board")
    with row.guarded():
        record = parts["exp"].record(*both("x", "y"))
        with np.errstate(over="ignore"):
            y = np.exp(doubles(record, "x"))
        row.numbers(f"{parts['exp'].where}.y_hex", doubles(record, "y"), y, EXP_TOLERANCE)
    for entry in parts["softmax"].entries():
        with row.guarded():
            record = entry.record(*both("x", "y"), "argmax_x", "argmax_y")
            x, y = doubles(record, "x"), doubles(record, "y")
            row.numbers(f"{entry.where}.y_hex", y, java_softmax(x), EXP_TOLERANCE)
            row.same(record["argmax_x"], java_argmax(x))
            row.same(record["argmax_y"], java_argmax(y))
    for entry in parts["sample_action"].entries():
        with row.guarded():
            record = entry.record("kind", "seed", *both("probs"), "actions")
            record["kind"].string("[A-Za-z0-9_ ]+")
            probs, rng = doubles(record, "probs"), JavaRandom(record["seed"].integer())
            row.same(record["actions"], [java_sample_action(probs, rng) for _ in record["actions"].entries()])
    for entry in parts["print_board"].entries():
        with row.guarded():
            record = entry.record("moves", "text")
            row.same(record["text"], java_board_text(replayed(record["moves"]).cells))


def demo(row: Row, golden: Entry, directory: Path) -> None:
    """Play every demonstration game and compare the output byte for byte."""
    listed = [entry.record("file", "layer_seeds", "bias_seed") for entry in golden.entries()]
    names = [record["file"].string(r"[^/\\]+") for record in listed]
    unlisted = sorted({path.name for path in directory.glob("demo*.txt")} - set(names))
    if unlisted:
        row.wrong(f"demos.json: wanted every demo file of the directory, got none for {', '.join(unlisted)}")
        return
    for name, record in zip(names, listed, strict=True):
        with row.guarded():
            key = net_seeds(record["layer_seeds"], record["bias_seed"])
            try:
                wanted = (directory / name).read_bytes()
            except OSError as error:
                raise UserError(f"{directory / name}: cannot read the golden file: {error.strerror}") from error
            got = demo_text(*key).encode()
            row.compared += len(wanted)
            if wanted != got:
                row.wrong(f"{name}: {first_difference(wanted, got)}")


def first_difference(wanted: bytes, got: bytes) -> str:
    """Return the first line in which two texts differ, as wanted and got."""
    pairs = zip([*wanted.split(b"\n"), None], [*got.split(b"\n"), None], strict=False)
    number, (want, have) = next((i, pair) for i, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    shown = ["nothing" if line is None else brief(line.decode(errors="backslashreplace")) for line in (want, have)]
    return f"line {number}: wanted {shown[0]}, got {shown[1]}"


STAGES: dict[str, Callable[[Row, Entry, Path], None]] = {  # the directory serves the demo's texts
    "random": random,
    "weights": weights,
    "forward": forward,
    "functions": functions,
    "greedy": greedy,
    "env": env,
    "selfplay": selfplay,
    "demo": demo,
}
