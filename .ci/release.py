"""Build what would be published, and look at it as a stranger would. Nothing public is touched: all of it stays in `dist/`.

    make release

1. sdist, and from it the wheel; 2. their metadata, against the changelog; 3. the wheel in an empty environment: a study, a
certificate of it, and `verify`; 4. the bill of materials of that environment (CycloneDX), and checksums of all files.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

from packaging.metadata import Metadata

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
LISTED = """
import json, sys
from importlib.metadata import distributions
def licence(known):
    trove = [each.split(" :: ")[-1] for each in known.get_all("Classifier", []) if each.startswith("License ::")]
    return known.get("License-Expression") or "; ".join(trove) or (known.get("License") or "not stated").splitlines()[0]
json.dump(sorted({(d.metadata["Name"], d.version, licence(d.metadata)) for d in distributions()}), sys.stdout)
"""


def run(*words: str | Path, place: Path = ROOT, **settings: str) -> str:
    """Run a program, and return what it says; its own words, and an end, where it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | settings
    done = subprocess.run([*map(str, words)], cwd=place, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def build() -> tuple[Path, Path]:
    """Build sdist and wheel anew."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST)
    (sdist,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    return sdist, wheel


def check_metadata(sdist: Path, wheel: Path) -> Metadata:
    """Metadata are valid, the same in both, and of the version that the changelog has; the licence is in both."""
    with tarfile.open(sdist) as packed, zipfile.ZipFile(wheel) as zipped:
        inside, names = f"{sdist.name.removesuffix('.tar.gz')}", zipped.namelist()
        source = packed.extractfile(f"{inside}/PKG-INFO")
        assert source is not None
        texts = [source.read(), zipped.read(next(name for name in names if name.endswith(".dist-info/METADATA")))]
        assert f"{inside}/LICENSE" in packed.getnames(), "the sdist has no licence"
        assert any(name.endswith("licenses/LICENSE") for name in names), "the wheel has no licence"
    first, second = (Metadata.from_email(text, validate=True) for text in texts)
    assert (first.name, first.version, first.requires_dist) == (second.name, second.version, second.requires_dist)
    released = re.findall(r"^## \[(\d[^\]]*)\]", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert released, "the changelog has no version"
    assert str(second.version) == released[0], f"the changelog's newest version is {released[0]}, not {second.version}"
    return second


def try_it(wheel: Path, place: Path) -> Path:
    """Install the wheel where nothing is, and use it from another folder; return that environment's Python."""
    venv.create(place / "venv", with_pip=True)
    bin_ = place / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    run(bin_ / "python", "-m", "pip", "install", "--quiet", wheel)
    work = place / "work"
    work.mkdir()
    home = {"MODELSEL_HOME": str(place / "home"), "MODELSEL_CACHE": str(place / "cache")}
    print(run(bin_ / "modelsel", "run", "dataset=iris", "space=[cart,knn,naive_bayes]", place=work, **home))
    run(bin_ / "modelsel", "certify", "latest", "-o", "certificate.json", place=work, **home)
    print(run(bin_ / "modelsel", "verify", "certificate.json", place=work, **home))
    return bin_ / "python"


def bill_of_materials(python: Path, metadata: Metadata) -> dict[str, object]:
    """Every package of the environment with version and licence, in CycloneDX 1.5."""
    found = [tuple(each) for each in json.loads(run(python, "-c", LISTED))]
    parts = [
        {
            "type": "library", "name": name, "version": version, "purl": f"pkg:pypi/{name.lower().replace('_', '-')}@{version}",
            "licenses": [{"license": {"name": licence}}],
        }
        for name, version, licence in found if name not in ("pip", "setuptools", metadata.name)
    ]  # fmt: skip
    itself = {"type": "application", "name": metadata.name, "version": str(metadata.version)}
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": itself}, "components": parts,
    }  # fmt: skip


def main() -> None:
    sdist, wheel = build()
    metadata = check_metadata(sdist, wheel)
    with tempfile.TemporaryDirectory() as place:
        parts = bill_of_materials(try_it(wheel, Path(place)), metadata)
    (DIST / "sbom.json").write_text(json.dumps(parts, indent=1) + "\n", "utf-8")
    files = sorted(path for path in DIST.iterdir() if path.name != "SHA256SUMS")
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in files]
    (DIST / "SHA256SUMS").write_text("\n".join(sums) + "\n", "utf-8")
    print("\n".join(sums))
    print(
        f"{metadata.name} {metadata.version} lies in {DIST}; nothing was published. To do so, push the tag v{metadata.version}"
    )


if __name__ == "__main__":
    main()
