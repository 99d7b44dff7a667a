"""Reads the command-line arguments that the benchmarks share."""

import os
import pathlib
import sys


def parse(parser):
    """Adds --bin and --json to a parser and parses. From then on, the modules of tests/support can be imported."""
    parser.add_argument("--bin", required=True, type=pathlib.Path, help="the folder of the programs")
    parser.add_argument("--json", type=pathlib.Path, help="writes the figures to this file")
    arguments = parser.parse_args()
    os.environ["RINGMASTER_BIN"] = str(arguments.bin.resolve())
    sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "support"))
    return arguments
