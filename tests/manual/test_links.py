"""Links to and from pages that the build makes: the reference, the gallery. Those between written pages: test_site.py."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
WRITTEN = [page for page in sorted(DOCS.rglob("*.md")) if page.relative_to(DOCS).parts[0] not in ("reference", "examples")]
LINK = re.compile(r"\]\(([^)\s]+)\)")
ROLE = re.compile(r"\{(?:doc|download)\}`[^`<]*<([^`>]+)>`")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the generated reference, where the site has it."""
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    folder = tmp_path_factory.mktemp("site")
    generate.write(folder / "reference")
    return folder


def named(text: str) -> Iterator[str]:
    """The pages of this site that a page links to, without anchors."""
    words = re.sub(r"```(?!\{).*?```", "", text, flags=re.DOTALL)
    yield from ROLE.findall(words)
    for link in LINK.findall(re.sub(r"`[^`\n]*`", "", words)):
        if not re.match(r"[a-z]+:|#", link):
            yield link.partition("#")[0]


def dead(text: str, place: Path, made: Path) -> list[str]:
    """Links of a page, by its place below `docs/`, to generated pages that are not made, and to files that are not there."""
    return [link for link in named(text) if not _there((DOCS / place.parent / link).resolve(), made)]


def _there(target: Path, made: Path) -> bool:
    if not target.is_relative_to(DOCS):
        return target.exists()
    inside = target.relative_to(DOCS)
    if inside.parts[0] == "reference":
        return (made / inside).exists()
    if inside.parts[0] == "examples":  # a page for each script, and one for each folder
        script = DOCS / "gallery" / Path(*inside.parts[1:])
        return script.with_suffix(".py").exists() or (script.name == "index" and script.parent.is_dir())
    return target.exists() or target.with_suffix(".md").exists()


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: str(page.relative_to(DOCS)))
def test_links_of_a_written_page_lead_somewhere(page: Path, made: Path) -> None:
    assert dead(page.read_text("utf-8"), page.relative_to(DOCS), made) == []


def test_links_of_generated_pages_lead_somewhere(made: Path) -> None:
    pages = sorted((made / "reference").rglob("*.md"))
    assert len(pages) > 200
    found = {page.name: dead(page.read_text("utf-8"), page.relative_to(made), made) for page in pages}
    assert {name: links for name, links in found.items() if links} == {}


def test_a_dead_link_is_found(made: Path) -> None:
    text = "[a](reference/gone.md) [b](reference/commands.md#x) {doc}`c <examples/guard/gone>` [d](gone.md) {doc}`e <index>`"
    assert dead(text, Path("page.md"), made) == ["examples/guard/gone", "reference/gone.md", "gone.md"]
