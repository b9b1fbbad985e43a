"""OpenML: recorded answers become the table that scikit-learn's reader gives; nothing is asked twice; offline is said."""

import gzip
import json
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import fetch_openml

from modelsel.core.errors import BAD_CONFIGURATION, BAD_DATA, ConfigurationError, DataError
from modelsel.core.types import Task
from modelsel.dataset.named import NOT_AT_HAND, OPENML, Named
from modelsel.dataset.openml import Openml
from tests.openml_answers import RECORDED, Offline, Recorded, file_of, served

pytestmark = pytest.mark.skipif(not (RECORDED / "id_61").is_dir(), reason="scikit-learn's recordings are not installed")
API = "https://www.openml.org/api/v1/json/data"
LIST = f"{API}/list/data_name"
IRIS, ZOO, ANNEAL, KR_VS_KP, GLASS2, PENGUINS, ADULT = 61, 62, 2, 3, 40675, 42585, 1119


def read(data_id: int, folder: Path, **settings: Any) -> Task:
    with served(Recorded(data_id)):
        return Openml(data_id=data_id, cache=str(folder), **settings).read()


def decoded(codes: np.ndarray, levels: Sequence[str | None]) -> np.ndarray:
    """Texts of codes, None where missing."""
    return np.array([*levels, None], object)[np.where(np.isnan(codes), len(levels), codes).astype(int)]


@pytest.fixture
def offline() -> Iterator[Offline]:
    with served(Offline()) as handler:
        yield handler


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("data_id", [IRIS, ZOO, KR_VS_KP, GLASS2, PENGUINS, ADULT])
def test_kinds_levels_and_values_are_those_that_scikit_learn_reads(data_id: int, packed: bool, tmp_path: Path) -> None:
    with served(Recorded(data_id, packed=packed)), warnings.catch_warnings(action="ignore"):
        ours = Openml(data_id=data_id, cache=str(tmp_path)).read()
        theirs = fetch_openml(data_id=data_id, target_column=None, as_frame=False, parser="liac-arff", data_home=None)
    table = {name: theirs.data[:, at] for at, name in enumerate(theirs.feature_names)}
    (target,) = set(table) - {feature.name for feature in ours.features}
    for at, feature in enumerate(ours.features):
        levels = theirs.categories.get(feature.name)
        assert (feature.kind == "nominal") == (levels is not None)
        assert list(feature.levels) == [level for level in levels or [] if level is not None]  # penguins: `?` is declared
        theirs_said = table[feature.name] if levels is None else decoded(table[feature.name], levels)
        said = ours.values[:, at] if levels is None else decoded(ours.values[:, at], feature.levels)
        assert np.array_equal(said, theirs_said, equal_nan=levels is None)
    assert [ours.classes[code] for code in ours.target] == [theirs.categories[target][int(code)] for code in table[target]]


def test_a_name_and_version_lead_to_the_same_data(tmp_path: Path) -> None:
    with served(Recorded(ADULT)):
        named = Openml(name="Adult-Census", version=1, cache=str(tmp_path)).load()
    assert named.task.fingerprint == read(ADULT, tmp_path).fingerprint
    assert named.findings[0].code == "FROM_OPENML"
    assert "data set 1119: adult-census, version 1" in named.findings[0].message


def test_a_version_that_was_withdrawn_is_found_and_said(tmp_path: Path) -> None:
    with served(Recorded(GLASS2)):
        loaded = Openml(name="glass2", version=1, cache=str(tmp_path)).load()
    assert "OpenML calls it deactivated" in [finding.message for finding in loaded.findings]


def test_what_was_fetched_is_read_again_without_asking(tmp_path: Path) -> None:
    first = read(IRIS, tmp_path)
    with served(Offline()) as nobody:
        again = Openml(data_id=IRIS, cache=str(tmp_path)).read()
    assert again.fingerprint == first.fingerprint
    assert nobody.asked == []


def test_another_column_may_be_the_target_and_kinds_may_be_overruled(tmp_path: Path) -> None:
    task = read(ANNEAL, tmp_path, target="shape", features={"family": "ignore"})
    assert task.classes == ("COIL", "SHEET")
    assert "family" not in [feature.name for feature in task.features]
    with pytest.raises(ConfigurationError, match="there is no column 'shap'"):
        read(ANNEAL, tmp_path, target="shap")


def test_without_an_answer_it_says_so_once_and_quickly(tmp_path: Path, offline: Offline) -> None:
    for _ in range(3):
        with pytest.raises(ConfigurationError, match=r"data set 61: .*Name or service not known") as refused:
            Openml(data_id=IRIS, cache=str(tmp_path)).read()
        assert (refused.value.code, refused.value.exit_code) == ("MSEL-307", BAD_CONFIGURATION)
    assert len(offline.asked) == 1
    assert not list(tmp_path.rglob("*.*"))


def test_a_data_set_that_openml_does_not_have_is_named(tmp_path: Path) -> None:
    refusal = (RECORDED / f"id_{GLASS2}" / file_of(f"{LIST}/glass2/limit/2/data_version/1")).read_bytes()
    other = {f"{LIST}/glass/limit/2/data_version/9{status}": refusal for status in ("", "/status/deactivated")}
    with served(Recorded(GLASS2, refused=other)), pytest.raises(ConfigurationError, match="no data set 'glass' of") as refused:
        Openml(name="glass", version=9, cache=str(tmp_path)).read()
    assert (refused.value.code, refused.value.exit_code) == ("MSEL-302", BAD_CONFIGURATION)


def test_a_file_of_another_checksum_is_refused_and_not_kept(tmp_path: Path) -> None:
    with served(Recorded(IRIS)) as recorded:
        Openml(data_id=IRIS, cache=str(tmp_path / "whole")).read()
        address = next(url for url in recorded.asked if "download" in url)
    with served(Recorded(IRIS, other={address: b"@relation x\n"})), pytest.raises(DataError, match="checksum") as refused:
        Openml(data_id=IRIS, cache=str(tmp_path / "cut")).read()
    assert (refused.value.code, refused.value.exit_code) == ("MSEL-309", BAD_DATA)
    assert not list(tmp_path.glob("cut/**/*.arff"))
    kept = next(tmp_path.glob("whole/**/*.arff"))
    kept.write_bytes(kept.read_bytes()[:-20])
    with pytest.raises(DataError, match="checksum"):
        read(IRIS, tmp_path / "whole")


def test_an_answer_that_is_no_json_is_no_internal_error(tmp_path: Path) -> None:
    page = {"https://www.openml.org/api/v1/json/data/61": b"<html>maintenance</html>"}
    with served(Recorded(IRIS, other=page)), pytest.raises(DataError, match="MSEL-309: data set 61 cannot be read"):
        Openml(data_id=IRIS, cache=str(tmp_path)).read()


def test_an_old_address_is_asked_for_securely(tmp_path: Path) -> None:
    description = json.loads(gzip.decompress((RECORDED / f"id_{IRIS}" / file_of(f"{API}/{IRIS}")).read_bytes()))
    secure = description["data_set_description"]["url"]
    description["data_set_description"]["url"] = secure.replace("https:", "http:")
    with served(Recorded(IRIS, other={f"{API}/{IRIS}": json.dumps(description).encode()})) as recorded:
        Openml(data_id=IRIS, cache=str(tmp_path)).read()
    assert secure.startswith("https:")
    assert recorded.asked[-1] == secure


def test_only_the_web_is_asked(tmp_path: Path) -> None:
    description = b'{"data_set_description": {"id": 61, "name": "x", "version": 1, "url": "file:///etc/passwd"}}'
    with served(Recorded(IRIS, other={"https://www.openml.org/api/v1/json/data/61": description})), pytest.raises(DataError):
        Openml(data_id=IRIS, cache=str(tmp_path)).read()
    assert not list(tmp_path.rglob("*.arff"))


def test_a_name_or_a_number_and_not_both() -> None:
    assert [problem.code for problem in Openml().problems()] == ["MSEL-301"]
    assert [problem.code for problem in Openml(name="iris", data_id=61).problems()] == ["MSEL-301"]
    assert list(Openml(name="iris").problems()) == []


def test_a_named_set_comes_from_the_folder_else_from_openml_else_it_is_passed_over(
    tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    assert Named("glass", str(shared / "data"), absent="skip").read().name == "glass"
    with served(Offline()) as nobody:
        for name in ("glass", "vote"):
            with pytest.raises(ConfigurationError, match=f"'{name}' is not made here.*OpenML") as refused:
                Named(name, absent="skip").read()
            assert [problem.code for problem in refused.value.problems] == [NOT_AT_HAND]
        with pytest.raises(ConfigurationError, match="MSEL-302"):
            Named("mushroom").read()
    assert len(nobody.asked) == 1
    assert "MSEL-308" in [problem.code for problem in Named("vote", absent="skip", openml=False).problems()]


def test_a_named_set_is_not_taken_for_another_one_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path))
    monkeypatch.setitem(OPENML, "adult", ("adult-census", 1, 32561))
    with served(Recorded(ADULT)):  # the recording holds ten rows of it
        with pytest.raises(ConfigurationError, match="has 10 rows, and the one meant here 32561"):
            Named("adult", absent="skip").read()
        monkeypatch.setitem(OPENML, "adult", ("adult-census", 1, 10))
        assert Named("adult").read().name == "adult"


def test_a_named_set_of_openml_is_the_one_of_the_folder(tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path))
    with served(Recorded(KR_VS_KP, other={f"{LIST}/kr-vs-kp/limit/2/data_version/1": b'{"data": {"dataset": [{"did": 3}]}}'})):
        fetched = Named("kr_vs_kp").read()
    given = Named("kr_vs_kp", str(shared / "data")).read()
    assert [feature.name for feature in fetched.features] == [feature.name for feature in given.features]
    for at, (there, here) in enumerate(zip(fetched.features, given.features, strict=True)):
        same = decoded(fetched.values[:, at], there.levels) == decoded(given.values[:, at], here.levels)
        assert same.all()  # the file's levels are sorted, OpenML's declared
    assert (decoded(fetched.target, fetched.classes) == decoded(given.target, given.classes)).all()


def test_the_rows_of_the_named_sets_are_those_of_their_files(shared: Path) -> None:
    for name, (_, _, rows) in OPENML.items():
        assert len((shared / "data" / f"{name}.csv").read_text().splitlines()) == rows + 1
