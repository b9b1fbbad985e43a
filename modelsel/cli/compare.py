"""`modelsel compare RUN RUN …`: learners compared on the same folds, or over data sets, with the sentences to quote."""

from collections.abc import Sequence

from modelsel.cli._arguments import RUN_HELP, Arguments
from modelsel.core.errors import OK


def main(words: Sequence[str]) -> int:
    parser = Arguments(
        "compare", "Runs of one data set are compared fold by fold, runs of several over the data sets (Demšar 2006)."
    )
    parser.add_argument("runs", metavar="RUN", nargs="+", help=RUN_HELP)
    parser.add_argument("--rope", type=float, default=0.01, help="differences up to this are practically none (default .01)")
    args = parser.parse_args(words)
    from modelsel.compare.runs import of_folder, paired
    from modelsel.record.folder import RunFolder

    runs = [of_folder(RunFolder.open(run)) for run in args.runs]
    print("\n".join(_folds(runs, args.rope) if paired(runs) == "folds" else _sets(runs, args.rope)))
    return OK


def _folds(runs: Sequence, rope: float) -> Sequence[str]:  # type: ignore[type-arg]
    from modelsel.compare.over_folds import over_folds, sentences

    return sentences(over_folds(runs, rope), runs, rope)


def _sets(runs: Sequence, rope: float) -> Sequence[str]:  # type: ignore[type-arg]
    from modelsel.compare.over_sets import over_sets, sentences

    of = over_sets(runs, rope)
    widths = [max(len(name), 6) for name in of.learners]
    first = max(map(len, of.data))
    head = " " * first + "  " + "  ".join(name.rjust(width) for name, width in zip(of.learners, widths, strict=True))
    rows = [
        data.ljust(first) + "  " + "  ".join(f"{score:.4f}".rjust(width) for score, width in zip(row, widths, strict=True))
        for data, row in zip(of.data, of.table, strict=True)
    ]
    return [head, *rows, "", *sentences(of, rope)]
