"""What is said of a tree beside the best of its size: in training and out of fold, never one without the other."""

from modelsel.record.documents import OptimalShape
from modelsel.reporting.text.words import interval, plural, score, with_sign


def sentences(one: OptimalShape, called: str) -> list[str]:
    """Say whether a tree of this size could do better; a reason where it is not known."""
    if "failed" in one:
        return [f"{called}: not known, a fit failed ({one['failed']})"]
    held = f", held to {plural(one['depth'], 'level')}," if "whole" in one else ""
    size = f"{called}{held} with {_leaves(one['leaves'])} of depth {one['depth']}"
    return [f"{size}: {in_training(one)}; {unseen(one)}"]


def _leaves(count: int) -> str:
    return "1 leaf" if count == 1 else f"{count} leaves"


def in_training(one: OptimalShape) -> str:
    """Say how many training errors the tree has, and the best of its size."""
    own, best, bound = (score(one["training"][name]) for name in ("grown", "optimal", "bound"))
    if "unlike" in one:
        why = f"which is no bound for it: {one['unlike']}"
        return f"{own} wrong in training, and {best} of the best trees of two sides per test, {why}"
    if one["proven"]:
        same = one["training"]["grown"] <= one["training"]["optimal"] + 1e-9
        return f"{own} wrong in training, " + (
            "and no tree of this size has less" if same else f"{best} of the best of this size"
        )
    if one["training"]["optimal"] < one["training"]["grown"] - 1e-9:
        return f"{own} wrong in training, {best} of the best that was found; no tree of this size has less than {bound}"
    return f"{own} wrong in training, and none better was found; no tree of this size has less than {bound}"


def unseen(one: OptimalShape) -> str:
    """Say what both get wrong on rows that they did not see, and whether the folds tell them apart."""
    own = one["out_of_fold"]
    told = f"out of fold {score(own['grown'])} against {score(own['optimal'])} of the best trees"
    if "difference" not in own:
        return told
    ends = own["difference"]["low"], own["difference"]["high"]
    change = f"{with_sign(own['difference']['mean'])} {interval(ends)}"
    if ends[0] <= 0 <= ends[1]:
        return f"{told} ({change}): the folds cannot tell them apart"
    return f"{told} ({change}): {'it pays' if ends[1] < 0 else 'it does not pay'}"


def proven_folds(one: OptimalShape) -> str:
    """Say in how many folds the search came to its end.

    >>> proven_folds({"out_of_fold": {"ended": 3, "folds": 4}})
    '3 of 4'
    """
    own = one["out_of_fold"]
    return f"{own['ended']} of {own['folds']}"


def deeper(one: OptimalShape) -> str:
    """Say what the whole tree does where it is deeper than what was searched; empty where it is not."""
    whole = one.get("whole")
    if whole is None:
        return ""
    return (
        f"The tree itself has {_leaves(whole['leaves'])} of depth {whole['depth']}: {score(whole['training'])} wrong in "
        f"training, {score(whole['out_of_fold'])} out of fold."
    )
