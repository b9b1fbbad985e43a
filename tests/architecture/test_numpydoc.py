"""Docstrings of what people call: a summary line, every parameter and return value, an example; checked by numpydoc."""

import pytest

import modelsel

validate = pytest.importorskip("numpydoc.validate").validate

PUBLIC = [name for name in dir(modelsel) if not name.startswith("_")]
LEFT = ("GL01", "GL03", "SA01", "ES01")  # the text begins beside the quotes; "See also" and a second paragraph are not asked


@pytest.mark.parametrize("name", PUBLIC)
def test_what_people_call_is_documented_in_full(name: str) -> None:
    found = [f"{code} {text}" for code, text in validate(f"modelsel.{name}")["errors"] if code not in LEFT]
    if name == "Outcome":  # made by modelsel.run, not by people
        found = [one for one in found if not one.startswith("PR01")]
    assert found == []


def test_the_check_finds_what_is_missing() -> None:
    assert {"PR01", "EX01"} <= {code for code, _ in validate("modelsel.core.fingerprint.digest")["errors"]}
