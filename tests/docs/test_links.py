"""Relative links in Markdown lead to files that there are, and to headings in them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    *(page for folder in ("deploy", "docs", "search") for page in (ROOT / folder).rglob("*.md")),
]


def outside_code(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(text):
    """What links may name of a page: its headings, as GitHub writes them."""
    for heading in re.findall(r"^#+ (.*)$", outside_code(text), re.MULTILINE):
        yield re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links(page):
    for path, anchor in re.findall(
        r"\]\(([^)#:\s]*)(?:#([^)]*))?\)", outside_code(page.read_text())
    ):
        target = page.parent / path if path else page
        assert target.exists(), path
        if anchor:
            assert anchor in anchors(target.read_text()), f"{path}#{anchor}"


def test_there_are_links():
    assert any("](docs/api/README.md)" in page.read_text() for page in PAGES)
