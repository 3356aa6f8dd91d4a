"""The commands: table, plot, confusion, export, check, diff."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from . import layout
from .check import find_problems
from .confusion import format_confusion, plot_confusion
from .diff import compare
from .errors import PostError
from .export import export
from .files import metrics_path
from .plot import plot
from .run import read_run
from .table import format_table

SUCCESS, FOUND, USAGE = 0, 1, 2
_RUN_HELP = "run directory (with metrics.h5) or metrics file"


def main(arguments=None) -> int:
    """Runs one command and returns its exit code: 0; 1 check or diff found something; 2 usage, or
    a file that cannot be read or written."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` ends quietly, as other tools do
    try:
        return options.command(options)
    except PostError as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lockstep_post", description="Reads, checks, plots and exports Lockstep's HDF5 files.",
        epilog="Exit code: 0; 1 check or diff found something; 2 usage or an unreadable file.")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    table = commands.add_parser("table", help="print the epochs of runs")
    table.add_argument("runs", metavar="RUN", nargs="+", help=_RUN_HELP)
    table.set_defaults(command=_table)

    curves = commands.add_parser("plot", help="draw the learning curves of runs")
    curves.add_argument("runs", metavar="RUN", nargs="+", help=_RUN_HELP)
    curves.add_argument("-o", "--output", required=True, help="picture: .png, .pdf or .svg")
    curves.set_defaults(command=_plot)

    confusion = commands.add_parser("confusion",
                                    help="tell which classes were taken for which")
    confusion.add_argument("run", metavar="RUN", help=_RUN_HELP)
    confusion.add_argument("-o", "--output", help="picture: .png, .pdf or .svg")
    confusion.set_defaults(command=_confusion)

    export_ = commands.add_parser("export", help="write a run's metrics as CSV or JSON")
    export_.add_argument("run", metavar="RUN", help=_RUN_HELP)
    export_.add_argument("-o", "--output", required=True,
                         help=".csv (one group) or .json (everything)")
    export_.add_argument("--group", choices=list(layout.TABLES), default="epoch",
                         help="what a CSV holds (default: epoch)")
    export_.set_defaults(command=_export)

    check = commands.add_parser("check", help="check metrics and checkpoint files")
    check.add_argument("files", metavar="FILE", nargs="+",
                       help="HDF5 file, or run directory: its metrics and all its checkpoints")
    check.set_defaults(command=_check)

    diff = commands.add_parser("diff", help="compare two files bit for bit")
    diff.add_argument("a", metavar="A", help="HDF5 file, or run directory: its metrics")
    diff.add_argument("b", metavar="B", help="the same")
    diff.add_argument("--ignore-times", action="store_true",
                      help="leave out the values of " + ", ".join(layout.MEASURED))
    diff.add_argument("--ignore", metavar="PATTERN", action="append", default=[],
                      help="leave out names that match, with all in them, such as '/provenance', "
                           "'/model/*.bias', '/config@seed' (an attribute); may be repeated")
    diff.set_defaults(command=_diff)
    return parser


def _table(options) -> int:
    runs = [read_run(path) for path in options.runs]
    for index, run in enumerate(runs):
        if len(runs) > 1:
            print(f"{'' if index == 0 else chr(10)}{run.name} ({run.path})")
        print(format_table(run), end="")
    return SUCCESS


def _plot(options) -> int:
    plot([read_run(path) for path in options.runs], options.output)
    print(options.output)
    return SUCCESS


def _confusion(options) -> int:
    run = read_run(options.run)
    print(format_confusion(run), end="")
    if options.output:
        plot_confusion(run, options.output)
        print(options.output)
    return SUCCESS


def _export(options) -> int:
    export(read_run(options.run), options.output, options.group)
    print(options.output)
    return SUCCESS


def _check(options) -> int:
    result = SUCCESS
    for path in _files_to_check(options.files):
        try:
            problems = find_problems(path)
        except PostError as error:
            print(f"error: {error}", file=sys.stderr)
            result = USAGE
            continue
        print(f"{path}: " + (f"{len(problems)} problem(s)" if problems else "ok"))
        for problem in problems:
            print(f"  {problem}")
        result = max(result, FOUND if problems else SUCCESS)
    return result


def _files_to_check(paths):
    for path in map(Path, paths):
        yield metrics_path(path)
        if path.is_dir():
            yield from sorted((path / "checkpoints").glob("*.h5"))


def _diff(options) -> int:
    a, b = metrics_path(options.a), metrics_path(options.b)
    found = compare(a, b, options.ignore, options.ignore_times)
    for difference in found.differences:
        print(difference)
    if found.differences:
        return FOUND
    left_out = ["the values of times"] if options.ignore_times else []
    left_out += options.ignore
    print(f"no differences: {a} and {b} agree in {found.data_sets} data sets and "
          f"{found.attributes} attributes" +
          (f", {', '.join(left_out)} left out" if left_out else ""))
    return SUCCESS
