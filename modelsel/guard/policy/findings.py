"""What a look or an audit may notice: a stable code, how grave it is, and what to do next."""

from modelsel.core.types import Finding

SEVERITIES = ("info", "low", "medium", "high", "critical")

LOSSES = ("G070", "G071", "G072", "G079")  # something of the record was changed, cut off or is gone

_QUOTE = "quote the interval shown: it holds in spite of the earlier looks"
FRESH = "collect fresh test rows, or go back to the split that was sealed first (split.seed)"
_RESTORE = "restore the ledger from a backup; until then treat the test set as used"

CATALOGUE: dict[str, tuple[str, str, str]] = {
    "G001": ("FIRST_LOOK", "info", ""),
    "G002": ("REPLAY", "info", "nothing: the stored answer is shown again and costs nothing"),
    "G003": ("UNGUARDED", "medium", "run with guard=warn for an interval that stays valid"),
    "G004": ("NOT_REMEMBERED", "high", "leave guard.remember as it is, and mend the ledger: a later test cannot know of this"),
    "G005": ("PUBLISHED_EXPERIMENT", "info", ""),
    "G010": ("SAME_TEST_SAME_SPEC", "low", "fix the seed or the library versions: the same study predicted something else"),
    "G011": ("SAME_TEST_NEW_TRAIN", "medium", _QUOTE),
    "G012": ("SPEC_CHANGED_AFTER_SCORE", "high", f"{_QUOTE}; decide by cross-validation before the next look"),
    "G013": ("COMMITTED_LOOK", "info", ""),
    "G014": ("OUTSIDE_DECLARED_SPACE", "medium", "declare all that may be tested before the first look"),
    "G015": ("LABELS_CHANGED", "medium", f"say what was corrected; {_QUOTE}"),
    "G016": ("DECLARED_MODEL", "info", ""),
    "G020": ("OVERLAP_RESEED", "high", FRESH),
    "G021": ("TEST_ROWS_IN_EARLIER_SELECTION", "critical", FRESH),
    "G022": ("PROBABLE_SAME_ROWS", "high", "say which rows these are (dataset.id), or collect fresh test rows"),
    "G023": ("SAME_SOURCE_NEW_SPLIT", "medium", "keep the split that was sealed first"),
    "G030": ("TRAIN_TEST_DUPLICATES", "low", "remove them, or keep them on one side (scheme.keep_duplicates_together)"),
    "G031": ("NEAR_DUPLICATES", "medium", "look whether rows were copied or augmented before the split"),
    "G032": ("GROUP_SPANS_SPLIT", "high", "seal whole groups: split=group and dataset.groups"),
    "G040": ("TOO_MANY_CANDIDATES", "medium", "declare fewer candidates, or report the corrected estimate"),
    "G041": ("TEST_BETTER_THAN_CV", "medium", "look for leakage: the test came out better than chance allows"),
    "G050": ("BUDGET_LOW", "medium", "keep the last looks for what matters"),
    "G051": ("BUDGET_EXHAUSTED", "high", "collect fresh test rows: no information is left in these"),
    "G052": ("NOT_CERTIFIED", "low", "choose measure=error for a certified interval"),
    "G053": ("QUOTA_USED", "low", "what is left is worth most for models that cross-validation prefers"),
    "G060": ("UNRESOLVED_INTENT", "medium", "run the interrupted study again: it resolves its own look"),
    "G061": ("LABELS_RELEASED", "critical", "collect fresh test rows: these are burned"),
    "G070": ("LEDGER_TAMPERED", "critical", _RESTORE),
    "G071": ("LEDGER_ROLLED_BACK", "critical", _RESTORE),
    "G072": ("LEDGER_MISSING", "critical", _RESTORE),
    "G073": ("POLICY_WEAKENED", "high", "go back to the settings under which the set was sealed; they stay in force"),
    "G074": ("KEY_GAP", "medium", "use the key that the earlier rows were hashed with; overlap with them is unknown"),
    "G075": ("CLOCK_BACKWARDS", "low", "set the clock; entries are ordered by number, not by time"),
    "G076": ("UNGUARDED_RUN_SEEN", "high", "count the unguarded score as a look at full precision"),
    "G077": ("ANCHOR_UNREACHED", "low", "look after the anchor: without it a lost ledger may go unnoticed"),
    "G079": ("ENTRY_QUARANTINED", "medium", "ask who wrote it; the ledger's owner may rule it void (docs/guard/teams.md)"),
    "G078": ("LEDGER_UNREACHED", "medium", "make the ledger reachable again; until then nothing is certified"),
}  # fmt: skip


def flag(code: str, message: str, severity: str | None = None, do: str | None = None) -> Finding:
    """A finding of the catalogue; `severity` where it depends on the share, `do` where on the cause.

    >>> flag("G002", "look 1 again").severity
    'info'
    """
    _, usual, remedy = CATALOGUE[code]
    return Finding(code, severity or usual, message, do or remedy)  # type: ignore[arg-type]


def at_least(findings: tuple[Finding, ...] | list[Finding], level: str) -> list[Finding]:
    """Those as grave as `level` or graver."""
    return [f for f in findings if SEVERITIES.index(f.severity) >= SEVERITIES.index(level)]
