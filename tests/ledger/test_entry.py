"""The chain shows edits, gaps, reordering and forks; it does not show a cut tail or a chain written anew."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelsel.ledger.entry import Brief, LedgerEntry, broken, entry_hash, follow, genesis, heads


def chain(length: int, replica: str = "r1") -> list[LedgerEntry]:
    entries: list[LedgerEntry] = []
    for index in range(length):
        entries.append(follow(entries[-1] if entries else None, replica, "note", {"text": f"entry {index}"}))
    return entries


def test_a_chain_holds() -> None:
    assert broken(chain(200)) == []
    assert broken([*chain(5, "r1"), *chain(3, "r2")]) == []


def test_the_hash_is_what_the_documentation_says() -> None:
    import hashlib

    body, prev = '{"text":"entry 0"}', hashlib.sha256(b"modelsel.genesis.v1\0r1").hexdigest()
    raw = b"modelsel.ledger.v1\0"
    for part in (prev, "r1", "1", "note", body):
        raw += len(part).to_bytes(8, "big") + part.encode()
    assert chain(1)[0].hash == hashlib.sha256(raw).hexdigest()


@given(st.data())
def test_any_flipped_bit_of_any_field_is_found(data: st.DataObject) -> None:
    entries = chain(6)
    index = data.draw(st.integers(0, 5))
    name = data.draw(st.sampled_from(["replica", "kind", "body", "prev", "hash"]))
    text = bytearray(getattr(entries[index], name).encode())
    place = data.draw(st.integers(0, len(text) - 1))
    text[place] ^= 1 << data.draw(st.integers(0, 6))
    entries[index] = replace(entries[index], **{name: text.decode()})
    assert broken(entries)


@pytest.mark.parametrize("index", range(6))
def test_a_changed_number_is_found(index: int) -> None:
    entries = chain(6)
    entries[index] = replace(entries[index], seq=index + 2)
    assert broken(entries)


@pytest.mark.parametrize("index", range(5))
def test_a_removed_entry_is_named(index: int) -> None:
    entries = chain(6)
    del entries[index]
    assert str(broken(entries)[0]) == f"replica r1, entry {index + 2}: entry {index + 1} is missing"


def test_an_edited_entry_is_named() -> None:
    entries = chain(6)
    entries[4] = replace(entries[4], body='{"text":"forged"}')
    assert [str(one) for one in broken(entries)] == ["replica r1, entry 5: its contents were changed"]


def test_an_edited_entry_with_a_matching_hash_breaks_the_next_link() -> None:
    entries = chain(6)
    body = '{"text":"forged"}'
    forged = replace(entries[2], body=body, hash=entry_hash(entries[2].prev, "r1", 3, "note", body))
    entries[2] = forged
    assert [str(one) for one in broken(entries)] == ["replica r1, entry 4: it does not follow the entry before it"]


def test_a_cut_tail_and_a_chain_written_anew_are_not_seen_here() -> None:
    """Known limits of any chain: anchors exist for them."""
    assert broken(chain(6)[:4]) == []
    assert broken([follow(None, "r1", "note", {"text": "all new"})]) == []


def test_entries_begin_at_their_replica() -> None:
    assert chain(1, "r2")[0].prev == genesis("r2") != genesis("r1")
    assert heads([*chain(3, "r1"), *chain(2, "r2")])["r1"].seq == 3


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown kind"):
        follow(None, "r1", "peek", {})


def test_of_two_entries_at_one_place_the_first_is_the_head() -> None:
    one, other = follow(None, "r1", "note", {"text": "one"}), follow(None, "r1", "note", {"text": "other"})
    assert heads([one, other]) == {"r1": one}
    assert heads([other, one, *chain(3, "r2")])["r1"] is other


@pytest.mark.parametrize(
    ("justify", "said"), [(None, ""), ({}, ""), ("a text", ""), ({"text": "labels were wrong"}, "labels were wrong")]
)
def test_the_brief_of_a_look_without_a_reason_has_no_text(justify: object, said: str) -> None:
    """The close of an exam states `null`."""
    assert follow(None, "r1", "intent", {"justify": justify, "names": ["a", "b"], "terms": None}).brief == Brief(
        width=2, said=said
    )
    assert follow(None, "r1", "seal", {"terms": {"policy": "off"}, "names": "ab"}).brief.off
