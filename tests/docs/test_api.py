"""docs/api is what its script writes from the .proto files, and its links lead somewhere."""

import re
from pathlib import Path

import pytest

from aleator.v1 import game_service_pb2, opponent_service_pb2
from tools.api_reference import PAGES, main, pages


def anchors(text):
    """What a link into a page may name: its headings, as GitHub names them."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {heading.lower().replace(" ", "-") for heading in headings}


def page_of(file):
    return f"{Path(file.name).stem}.md"


def test_the_pages_are_as_written_from_the_files():
    """Write them anew with `python -m tools.api_reference`."""
    assert {path.name: path.read_text() for path in PAGES.glob("*")} == pages()


def test_every_method_and_field_is_there():
    written = pages()
    for file in (game_service_pb2.DESCRIPTOR, opponent_service_pb2.DESCRIPTOR):
        (service,) = file.services_by_name.values()
        for method in service.methods:
            assert f"\n### {method.name}\n" in written[page_of(file)]
            for message in (method.input_type, method.output_type):
                home = written[page_of(message.file)]
                assert f"\n## {message.name}\n" in home
                for field in message.fields:
                    assert f"| `{field.name}` |" in home


def test_links():
    written = pages()
    for name, text in written.items():
        for page, anchor in re.findall(r"\]\(([^):/]*)#([^)]*)\)", text):
            assert anchor in anchors(written[page]), f"{name} links to {page}#{anchor}"
        for path in re.findall(r"\]\((\.\./[^)]*)\)", text):
            assert (PAGES / path).exists(), f"{name} links to {path}"


def test_a_missing_comment_is_told(monkeypatch, tmp_path):
    source = tmp_path / "aleator" / "v1" / "x.proto"
    source.parent.mkdir(parents=True)
    source.write_text(
        'syntax = "proto3";\n\n// All.\n\npackage aleator.v1;\n\n// One.\nmessage M {\n'
        "  int32 bare = 1;\n}\n"
    )
    monkeypatch.setattr("tools.api_reference.PROTO", tmp_path)
    with pytest.raises(SystemExit, match="bare has no comment"):
        pages()
    source.write_text(source.read_text().replace("  int32", "  // Of a | b.\n  int32"))
    monkeypatch.setattr("tools.api_reference.PAGES", tmp_path / "api")
    main()
    assert r"| `bare` | int32 | Of a \| b. |" in (tmp_path / "api" / "x.md").read_text()
