"""Implements tests/faults/run; the comment there describes the usage."""

import argparse
import pathlib
import tempfile

from faulty_build import faulty_program
from ways import MODELS, PRECISIONS, WAYS, Runs

parser = argparse.ArgumentParser(prog="tests/faults/run")
parser.add_argument("patches", nargs="+", type=pathlib.Path)
parser.add_argument("--model", choices=MODELS, default="tied")
parser.add_argument("--way", choices=WAYS, action="append")
parser.add_argument("--precision", choices=PRECISIONS, action="append")
parser.add_argument("--weights", choices=("fresh", "trained"), action="append")
asked = parser.parse_args()
with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    runs = Runs(folder)
    for number, patch in enumerate(asked.patches):
        engine = faulty_program([patch], folder / f"build-{number}")
        for way in asked.way or WAYS:
            for precision in asked.precision or PRECISIONS:
                for weights in asked.weights or ("fresh", "trained"):
                    state = runs.run(engine, asked.model, way, precision, weights, folder / "run")
                    print(f"{patch.stem}: {way}, {precision}, {weights}: {state['state']}: {state['reason']}", flush=True)
