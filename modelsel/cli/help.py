"""The text of `modelsel --help`: the commands, and the overrides that people type."""

from modelsel.api.commands.words import COMMANDS, OPTIONS, all_commands

OVERRIDES = (
    ("loans.csv default", "a file of your own and its target; or what plan --write wrote"),
    ("dataset=csv dataset.path=loans.csv dataset.target=default", "the same, spelled out"),
    ("space=trees", "what may be chosen: a file of conf/space"),
    ("'space=[cart,c45,knn,naive_bayes]'", "several, or learners by name (quoted for the shell)"),
    ("learner=c45 learner.min_leaf=5", "one learner, some of its settings"),
    ("scheme=stratified_kfold scheme.folds=10", "how candidates are judged"),
    ("measure=error", "what is measured: log_loss, auc, brier, balanced_error, …"),
    ("rule=one_standard_error", "how the winner is chosen"),
    ("split.test=0.25 split.seed=7", "how many rows are sealed, and which"),
    ("final_test=false", "leave the test set closed; auto: unless the data are found in order"),
    ("guard=warn", "off, warn, strict, ladder, thresholdout"),
    ("outer=stratified_kfold", "nested cross-validation; outer.interval=bates pays for a better interval"),
    ("corrected=auto", "nested cross-validation where BBC is near guessing; nested: always"),
    ("pool=threads pool.n_jobs=2", "where the work is done; never changes the answer"),
    ("limit.seconds=60 limit.memory=2GB", "what one cell may use"),
    ("tracking=sqlite tracking.uri=…", "where MLflow keeps its copy; tracking=off for none"),
    ("experiment=NAME", "a frozen study of conf/experiment"),
    ("seed=1 name=first", "the study's seed and name"),
)

EXITS = (
    "0 done   1 internal error   2 configuration   3 data   4 refused by the guard, or audit --fail-on reached\n"
    "  5 ledger not trustworthy   6 store not writable   7 no candidate, or failures with on_failure=error   130 interrupted"
)


def text() -> str:
    """The help of `modelsel` itself."""
    commands = _table(all_commands().items(), 12)
    return (
        "usage: modelsel <command> [options] [overrides]\n\n"
        "Choose a model in a way that can be checked. `modelsel run` alone does a whole study on bundled data.\n\n"
        f"commands:\n{commands}\n\n`modelsel <command> --help` says more. Overrides that people type:\n{_overrides()}\n\n"
        f"exit codes:\n  {EXITS}"
    )


def application(name: str) -> str:
    """The help of `run` and `plan`."""
    return (
        f"usage: modelsel {name} [options] [FILE [TARGET]] [GROUP=NAME | SETTING=VALUE] ...\n\n"
        f"{COMMANDS[name].capitalize()}.\n\n"
        f"overrides:\n{_overrides()}\n\noptions:\n{_table(OPTIONS, 18)}\n\n"
        "The folders of conf/ are the groups, their files the names, the comments in them the documentation.\n"
        f"exit codes:\n  {EXITS}"
    )


def _overrides() -> str:
    return "\n".join(
        f"  {words}\n      {meaning}" if len(words) > 44 else f"  {words:<46}{meaning}" for words, meaning in OVERRIDES
    )


def _table(rows: object, width: int) -> str:
    return "\n".join(f"  {name:<{width}} {meaning}" for name, meaning in rows)  # type: ignore[attr-defined]
