"""Licences of all that is installed with the package: each is known, and none forbids a use that our own licence allows."""

import re
from importlib.metadata import PackageNotFoundError, distribution

import pytest
from packaging.requirements import Requirement

OPEN = re.compile(r"\b(MIT|BSD|Apache|ISC|PSF|Python Software Foundation|HPND|Unlicense|0BSD|CC0|Zlib)\b", re.IGNORECASE)
WEAK = re.compile(
    r"\b(LGPL\S*|Lesser General Public|MPL\S*|Mozilla Public)\b", re.IGNORECASE
)  # beside ours they may be passed on
TOLD_ELSEWHERE = {  # in a file of the package, or where its source lies
    "huey": "MIT", "resvg-py": "MIT", "skops": "MIT",
    "nvidia-nccl-cu12": "BSD: its source; the build may be used, and comes with XGBoost's build for graphics cards alone",
}  # fmt: skip
EVERYTHING = ("exam", "onnx", "png", "learners", "optuna", "dask", "postgresql")


def licence(name: str) -> str:
    """A package's licence as its metadata say it."""
    known = distribution(name).metadata
    trove = [each for each in known.get_all("Classifier", []) if each.startswith("License ::")]
    said = " / ".join(filter(None, [known.get("License-Expression"), *trove, (known.get("License") or "").strip()[:60]]))
    return TOLD_ELSEWHERE.get(name, said)


def installed_with(root: str, extras: tuple[str, ...] = ()) -> dict[str, str]:
    """Licences of a package's dependencies, and of theirs: of those that are installed."""
    found: dict[str, str] = {}
    waiting, seen = [(root, extras)], set()
    while waiting:
        seen.add(asked := waiting.pop())
        try:
            needs = [Requirement(each) for each in distribution(asked[0]).requires or ()]
        except PackageNotFoundError:
            continue
        found[asked[0]] = licence(asked[0])
        for one in needs:
            if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *asked[1])):
                waiting += {(one.name.lower().replace("_", "-"), tuple(sorted(one.extras)))} - seen
    return found


def allowed(said: str) -> bool:
    return bool(OPEN.search(said) or WEAK.search(said))


def test_every_licence_is_known_and_none_forbids_our_use() -> None:
    plain, everything = installed_with("modelsel"), installed_with("modelsel", EVERYTHING)
    assert {"numba", "mlflow", "scikit-learn", "hydra-core", "pyarrow", "llvmlite"} <= plain.keys() <= everything.keys()
    assert {name: said for name, said in everything.items() if not allowed(said)} == {}


@pytest.mark.parametrize(
    "said", ["GPL-3.0-only", "License :: OSI Approved :: GNU General Public License v3 (GPLv3)", "AGPL-3.0", "Proprietary", ""]
)
def test_a_licence_that_would_forbid_it_is_found(said: str) -> None:
    assert not allowed(said)
