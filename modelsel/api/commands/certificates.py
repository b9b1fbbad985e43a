"""`modelsel.certify` and `modelsel.verify`: certificates from Python."""

from pathlib import Path


def certify(place: object, path: str | Path = "certificate.zip", whole: bool = False, stamp: str | None = None) -> Path:
    """Write a certificate of a run's final test, or of an exam.

    Anybody can check it without the data: `verify`, or the one-file verifier of `docs/guard`.

    Parameters
    ----------
    place : str, Path or Outcome
        A run (folder, name, `latest`, an outcome), or an exam's folder.
    path : str or Path
        The file to write.
    whole : bool
        Show the contents of every entry of the ledger, not of this study's alone.
    stamp : str, optional
        The address of a time-stamping authority (RFC 3161).

    Returns
    -------
    Path
        Where it lies.

    Raises
    ------
    ConfigurationError
        Where no test was opened.

    Examples
    --------
    With `outcome` as `modelsel.run` returned it, its test opened:

    >>> modelsel.certify(modelsel.test(outcome)).name
    'certificate.zip'
    """
    from modelsel.certificates.certify import certify as written

    return written(str(getattr(place, "folder", place)), Path(path), whole, stamp)


def verify(certificate: str | Path, key: str | None = None) -> dict[str, object]:
    """Recompute what a certificate says.

    A fault is no exception: the certificate is somebody else's.

    Parameters
    ----------
    certificate : str or Path
        The file.
    key : str, optional
        The public key that should have signed it.

    Returns
    -------
    dict
        What `held`, the `faults`, what is `unknown`, and the `exit_code` (0 or 5).

    Examples
    --------
    With `outcome` as `modelsel.run` returned it:

    >>> modelsel.verify(modelsel.certify(modelsel.test(outcome)))["faults"]
    []
    """
    from modelsel.certificates.verifier import verify as checked

    found = checked(certificate, key)
    return {"held": found.held, "faults": found.faults, "unknown": found.unknown, "exit_code": found.code}
