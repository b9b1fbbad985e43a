"""The words of the command line, and `modelsel.completion`: commands by themselves, overrides of `run` and `plan` by Hydra.

Hydra's own query reads the line from COMP_LINE and knows nothing of commands, so the script hands it the line without that
word. Standard library only: help and completion answer at once.
"""

from collections.abc import Mapping

from modelsel.core import satellites
from modelsel.core.errors import ConfigurationError, Problem

COMMANDS = {
    "run": "a whole study: select, test once, record, report",
    "plan": "a dry run: candidates, fits saved, time and memory, statistical warnings",
    "test": "open the sealed test set of a study that ran with final_test=false",
    "audit": "what touched the test rows, what it cost, whether the ledger is whole",
    "report": "write report.html again from the record",
    "compare": "paired comparison of learners over data sets",
    "dossier": "a checklist filled from the record: reforms, tripod-ai, model-card",
    "predict": "predictions of a study's final model on new rows",
    "export": "the final model for other systems: sql, rules, json, dot",
    "sync": "replay the record into MLflow",
    "ui": "show the embedded MLflow store in a browser",
    "doctor": "versions, stores, stale runs, ledger and anchors, permissions",
    "init": "a starter conf/ for a project of your own",
    "completion": "shell completion",
    "explain": "what a code or a setting means: MSEL-250, learner.k; RUN --alternatives",
    "certify": "a certificate of a run's test or of an exam, for others to check",
    "verify": "recompute what a certificate says (exit 0, or 5)",
    "lint": "hold modelsel.lock against the ledger and git; SARIF, annotations",
}


def all_commands() -> Mapping[str, str]:
    """Return every command with its line of help: this package's, and those that others bring."""
    return {**COMMANDS, **{name: satellites.command(name).HELP for name in satellites.offers_of(satellites.COMMANDS)}}


OPTIONS = (
    ("-m", "a sweep: dataset=iris,wine,vote runs a study each and ends in one table"),
    ("--config-dir DIR", "a conf/ of your own, searched before the package's (`modelsel init`)"),
    ("--config-name NAME", "a root file of your own in DIR, which begins with `defaults: [config, _self_]`"),
    ("-v", "print all that is known, not the one screen"),
    ("--write t.yaml", "of plan: write how the table is to be read, all that is sure; `modelsel run t.yaml` takes it"),
    ("--cfg job", "print the composed configuration and stop"),
    ("--info defaults", "print where it comes from (also searchpath, defaults-tree, config)"),
)

FLAGS = (*(name.split()[0] for name, _ in OPTIONS), "--help")

BASH = """\
_modelsel_complete() {
    local line="${COMP_LINE:0:$COMP_POINT}" word choices
    word="${line##* }"
    local -a words
    read -ra words <<< "$line"
    if [[ ${#words[@]} -lt 2 || ( ${#words[@]} -eq 2 && -n "$word" ) ]]; then
        choices="@COMMANDS@"
    elif [[ "${words[1]}" == run || "${words[1]}" == plan ]]; then
        if [[ "$word" == -* ]]; then
            COMPREPLY=($(compgen -W "@OPTIONS@" -- "$word"))
            return
        fi
        local rest=" " one last=""
        local -a own=()
        for one in "${words[@]:2}"; do  # a FILE and its TARGET are no overrides
            if [[ "$last" == --config-dir || "$last" == --config-name ]]; then own+=("$last" "$one")
            elif [[ "$one" == --config-dir=* || "$one" == --config-name=* ]]; then own+=("$one")
            elif [[ "$one" == *=* && "$one" != "$word" ]]; then rest+="$one "; fi
            last="$one"
        done
        rest+="$word"
        choices="$(COMP_LINE="${words[0]}${rest}" "${words[0]}" "${words[1]}" "${own[@]}" -sc query=bash 2>/dev/null)"
    else
        COMPREPLY=($(compgen -f -- "$word"))
        return
    fi
    COMPREPLY=($(compgen -W "$choices" -- "$word"))
}
COMP_WORDBREAKS="${COMP_WORDBREAKS//=}"
complete -o nospace -o default -F _modelsel_complete modelsel
"""

ZSH = """\
autoload -U +X bashcompinit && bashcompinit
""" + BASH.replace('read -ra words <<< "$line"', "words=(${=line})").replace("${words[1]}", "${words[2]}").replace(
    "${words[0]}", "${words[1]}"
)

FISH = """\
function __modelsel_overrides
    set -l words (commandline -opc)
    set -l rest (string match -- '*=*' $words[3..]) (commandline -ct)
    env COMP_LINE="modelsel $rest" modelsel $words[2] -sc query=fish 2>/dev/null
end
complete -c modelsel -f -n __fish_use_subcommand -a "@COMMANDS@"
complete -c modelsel -F -n "__fish_seen_subcommand_from run plan" -a "(__modelsel_overrides)"
complete -c modelsel -n "__fish_seen_subcommand_from run plan; and string match -q -- '-*' (commandline -ct)" -a "@OPTIONS@"
"""

SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


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
    if shell not in SCRIPTS:
        what, where = f"unknown shell {shell!r}: bash, fish, zsh", "`modelsel completion`"
        raise ConfigurationError(Problem("MSEL-251", what, where, "see `modelsel completion --help`"))
    return SCRIPTS[shell].replace("@COMMANDS@", " ".join(all_commands())).replace("@OPTIONS@", " ".join(FLAGS))
