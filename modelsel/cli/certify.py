"""`modelsel certify RUN|EXAM -o FILE`: a certificate that others can check with `modelsel verify`."""

from collections.abc import Sequence
from pathlib import Path

from modelsel.cli.arguments import RUN_HELP, Arguments
from modelsel.core.errors import OK


def main(words: Sequence[str]) -> int:
    """Run `modelsel certify`: write the certificate of a run or an exam."""
    parser = Arguments("certify")
    parser.add_argument("place", metavar="RUN|EXAM", help=f"{RUN_HELP}; or the folder of an exam")
    parser.add_argument("-o", "--output", metavar="FILE", default="certificate.zip", help="default: certificate.zip")
    parser.add_argument(
        "--whole", action="store_true", help="show the contents of all entries of the ledger, of other rows too"
    )
    parser.add_argument("--stamp", metavar="URL", help="a time-stamping authority (RFC 3161) that dates it")
    args = parser.parse_args(words)
    from modelsel.certificates.certify import certify

    print(certify(args.place, Path(args.output), args.whole, args.stamp))
    return OK
