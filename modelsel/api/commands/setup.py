"""`modelsel.doctor`, `init`, `explain` and `completion`: this machine, a project's files, the manual."""

from pathlib import Path

import pandas as pd


def doctor(warm: bool = False) -> pd.DataFrame:
    """Look whether versions, stores, ledger and anchors are well.

    It changes nothing but what `warm` asks for.

    Parameters
    ----------
    warm : bool
        Compile the kernels now, so that the first study need not.

    Returns
    -------
    DataFrame
        A row per thing: `what`, `found`, and whether it is `well`.

    Examples
    --------
    >>> modelsel.doctor().columns.tolist()
    ['what', 'found', 'well']
    """
    from modelsel.cli.doctor import lines

    return pd.DataFrame([(what, found, code == 0) for what, found, code in lines(warm)], columns=["what", "found", "well"])


def init(directory: str | Path = "conf") -> Path:
    """Write a starter `conf/` for a project of one's own.

    Files that are there already stay as they are.

    Parameters
    ----------
    directory : str or Path
        The folder to write to.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ConfigurationError
        Where the folder has files of that name.

    Examples
    --------
    >>> modelsel.init("conf_of_mine").name
    'conf_of_mine'
    """
    from modelsel.cli.init import started

    started(Path(directory))
    return Path(directory)


def explain(word: str) -> str:
    """Say what a code, a setting, a group or a name of its files means.

    The same text as `modelsel explain` prints.

    Parameters
    ----------
    word : str
        A code (`MSEL-809`, `G021`), a setting (`learner.k`), a group (`scheme`), or a kind (`softener=hard`).

    Returns
    -------
    str
        Its page, as plain text.

    Raises
    ------
    ConfigurationError
        For an unknown word, with the nearest known one.

    Examples
    --------
    >>> print(explain("softener=hard"))
    softener=hard
      No softening: a row goes whole to one side of a threshold.
      kind: hard
    """
    from modelsel.cli.explain import explained

    return explained(word)


def completion(shell: str) -> str:
    """Return what a shell has to read for completion.

    The same text as `modelsel completion SHELL` prints.

    Parameters
    ----------
    shell : str
        `bash`, `zsh` or `fish`.

    Returns
    -------
    str
        A script.

    Raises
    ------
    ConfigurationError
        For another shell.

    Examples
    --------
    >>> "modelsel" in modelsel.completion("bash")
    True
    """
    from modelsel.cli.completion import script

    return script(shell)
