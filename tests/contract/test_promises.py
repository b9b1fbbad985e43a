"""Every kind of a group keeps what the group promises. Kinds are found in the package: a new one takes part by itself."""

import pytest

from modelsel.core.spec import class_of, kinds_of
from tests.contract import promises

KINDS = [(group, kind) for group in ("criterion", "learner", "preparer", "measure", "scheme") for kind in kinds_of(group)]


def test_bases_are_no_kinds() -> None:
    assert len(KINDS) > 40
    assert not {kind for _, kind in KINDS} & {"base", "_base"}


@pytest.mark.filterwarnings("ignore:trees of depth")  # a search that is cut short says so
@pytest.mark.parametrize(("group", "kind"), KINDS)
def test_every_kind_keeps_what_its_group_promises(group: str, kind: str) -> None:
    promises.check(group, class_of(group, kind))
