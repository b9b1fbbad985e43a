"""`modelsel compare RUN RUN …|SWEEP`: learners compared on the same folds, or over data sets, with the sentences to quote."""

from collections.abc import Sequence
from pathlib import Path

from modelsel.cli.arguments import RUN_HELP, Arguments, warn_of_changes
from modelsel.core.errors import OK


def main(words: Sequence[str]) -> int:
    """Run `modelsel compare`: print the comparison of runs, and write it to a file."""
    parser = Arguments(
        "compare", "Runs of one data set are compared fold by fold, runs of several over the data sets (Demšar 2006)."
    )
    parser.add_argument("runs", metavar="RUN", nargs="+", help=f"{RUN_HELP}; a sweep's folder stands for its jobs")
    parser.add_argument("--rope", type=float, default=0.01, help="differences up to this are practically none (default .01)")
    parser.add_argument("-o", metavar="FILE", type=Path, help="the page (.html), its picture (.svg), or Markdown with it (.md)")
    parser.add_argument("-v", "--verbose", action="store_true", help="print all tables and all sentences")
    args = parser.parse_args(words)
    compare(args.runs, (args.o,) if args.o else (), args.rope, verbose=args.verbose)
    return OK


def compare(runs: Sequence[str], files: Sequence[Path], rope: float = 0.01, verbose: bool = False) -> None:
    """Print the comparison of recorded runs, and write it to the files; errors come before any file."""
    from modelsel.api.results.comparison import compare_runs, runs_of
    from modelsel.reporting import comparison
    from modelsel.reporting.charts import document_text

    for file in files:
        comparison.check(file)
    found = compare_runs(runs, rope)
    for folder, _ in (one for run in runs for one in runs_of(run)):
        warn_of_changes(folder)
    print(document_text(found.document) if verbose else comparison.first_screen(found.document))
    for file in files:
        print(f"\nwritten: {', '.join(map(str, found.save(file)))}", end="")
    print(end="\n" if files else "")
