"""`modelsel verify FILE`: recompute what a certificate says. Exit 0 where all holds, 5 where something does not."""

from collections.abc import Sequence

from modelsel.cli.arguments import Arguments


def main(words: Sequence[str]) -> int:
    """Run `modelsel verify`: print what was recomputed from a certificate."""
    parser = Arguments("verify")
    parser.add_argument("certificate", metavar="FILE", help="certificate.zip")
    parser.add_argument("--key", metavar="PUBLIC", help="the key that ought to have signed it")
    args = parser.parse_args(words)
    from modelsel.certificates.verifier import verify

    verdict = verify(args.certificate, args.key)
    print(verdict.text())
    return int(verdict.code)
