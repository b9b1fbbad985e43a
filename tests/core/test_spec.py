"""Parts are found by their file, a helper beside them is no part."""

import pytest

from modelsel.core.spec import GROUPS, class_name, class_of, kind_of, kinds_of, make, package_of, spec_of


@pytest.mark.parametrize("group", [group for group in GROUPS if kinds_of(group)])
def test_every_kind_leads_to_the_class_of_its_name_and_back(group: str) -> None:
    for kind in kinds_of(group):
        found = class_of(group, kind)
        assert found.__name__ == class_name(kind)
        assert found.__module__.rpartition(".")[0] == package_of(group)


@pytest.mark.parametrize(
    ("group", "word"), [("criterion", "base"), ("guard", "gate"), ("dataset", "columns"), ("learner", "../core"), ("none", "x")]
)
def test_what_is_no_kind_is_a_key_error(group: str, word: str) -> None:
    assert word not in kinds_of(group)
    with pytest.raises(KeyError):
        class_of(group, word)


def test_a_specification_is_plain_data_with_its_defaults() -> None:
    spec = spec_of(make("learner", "knn", k=7))
    assert (spec["kind"], spec["k"]) == ("knn", 7)
    assert spec["distance"]["kind"] == "heom"
    assert kind_of(make("criterion", "gain_ratio")) == "gain_ratio"
