"""`gomoku export`: a network as an ONNX file, or a run's metrics for TensorBoard."""

import argparse
from pathlib import Path

from experiments.errors import EXIT_OK, UserError
from experiments.files.event_file import event_bytes
from experiments.files.onnx_file import onnx_model
from experiments.metrics import read_metrics
from nn import load_net
from nn.weights import replace_file

EVENTS = "events.out.tfevents.metrics"  # TensorBoard looks for "tfevents" in a name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the two formats and their arguments."""
    formats = parser.add_subparsers(title="what to write", metavar="FORMAT", dest="format", required=True)
    onnx = formats.add_parser("onnx", help="a network as an ONNX graph; needs pip install -e '.[onnx]'")
    onnx.add_argument("weights", metavar="WEIGHTS", type=Path, help="a file of weights, such as RUN/policy.npz")
    onnx.add_argument("-o", "--output", metavar="FILE", type=Path, help="(default: beside WEIGHTS, ending in .onnx)")
    tensorboard = formats.add_parser(
        "tensorboard", help="metrics as an event file for TensorBoard; needs pip install -e '.[tb]'"
    )
    tensorboard.add_argument("run", metavar="RUN", type=Path, help="a run directory")
    tensorboard.add_argument("-o", "--output", metavar="DIR", type=Path, help="(default: RUN/tensorboard)")


def run(args: argparse.Namespace) -> int:
    """Write the file and say where it is."""
    output: Path
    if args.format == "onnx":
        output = args.output or args.weights.with_suffix(".onnx")
        if output.exists() and args.weights.exists() and output.samefile(args.weights):
            raise UserError(f"-o {output}: that is what the weights are read from; name another file")
        content = onnx_model(load_net(args.weights)).SerializeToString()
    else:
        metrics = args.run / "metrics.jsonl"
        rows = read_metrics(metrics)
        for number, row in enumerate(rows, start=1):
            for key in ("games", "seconds"):
                if not isinstance(row.get(key, 0 if key == "seconds" else None), (int, float)):
                    raise UserError(f"{metrics}, line {number}: wanted a number of {key}")
        folder = args.output or args.run / "tensorboard"
        content = event_bytes(rows)
        folder.mkdir(parents=True, exist_ok=True)
        output = folder / EVENTS
    replace_file(output, content)
    print(output)
    return EXIT_OK
