"""`modelsel completion SHELL`: commands by themselves, overrides of `run` and `plan` by Hydra's own query.

Hydra reads the line from COMP_LINE and knows nothing of commands, so the script hands it the line without that word.
"""

from collections.abc import Sequence

from modelsel.cli.arguments import Arguments, complaint
from modelsel.cli.help import COMMANDS, OPTIONS
from modelsel.core.errors import OK, ConfigurationError

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
        local rest=" " one
        for one in "${words[@]:2}"; do  # a FILE and its TARGET are no overrides
            [[ "$one" == *=* && "$one" != "$word" ]] && rest+="$one "
        done
        rest+="$word"
        choices="$(COMP_LINE="${words[0]}${rest}" "${words[0]}" "${words[1]}" -sc query=bash 2>/dev/null)"
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


def main(words: Sequence[str]) -> int:
    """Run `modelsel completion`: print the script for a shell."""
    parser = Arguments(
        "completion", 'bash: eval "$(modelsel completion bash)"; zsh the same; fish: modelsel completion fish | source'
    )
    parser.add_argument("shell", metavar="SHELL", choices=sorted(SCRIPTS), help="bash, zsh or fish")
    print(script(parser.parse_args(words).shell), end="")
    return OK


def script(shell: str) -> str:
    """Return the completion script of a shell; ConfigurationError for one that is not known."""
    if shell not in SCRIPTS:
        raise ConfigurationError(complaint(f"unknown shell {shell!r}: bash, fish, zsh", "modelsel completion"))
    return SCRIPTS[shell].replace("@COMMANDS@", " ".join(COMMANDS)).replace("@OPTIONS@", " ".join(FLAGS))
