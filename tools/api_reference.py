"""Writes docs/api, the reference of the wire contract, from the comments of the .proto files.

`python -m tools.api_reference` writes the pages anew: one for each .proto file, and an index. The
compiler (grpcio-tools) parses the files and keeps their comments; api_page.md.jinja and
api_index.md.jinja say how the pages look.

Limits: shows what Aleator's files have, which is no extensions, maps, groups or nested types, and
comments that stand before what they explain.
"""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from google.protobuf.descriptor_pb2 import (
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)
from grpc_tools import protoc
from jinja2 import Environment, FileSystemLoader, StrictUndefined

ROOT = Path(__file__).parents[1]
PROTO = ROOT / "proto"
PAGES = ROOT / "docs" / "api"
INDEX = "README.md"
PACKAGE = ".aleator.v1."
ELSEWHERE = {
    ".google.protobuf.": "https://protobuf.dev/reference/protobuf/google.protobuf/",
    ".google.rpc.": "https://github.com/googleapis/googleapis/tree/master/google/rpc",
}
"""Where the types of other packages are explained."""


class Part:
    """A part of a .proto file and its comment.

    Parameters
    ----------
    descriptor : Message
        What the compiler says of the part.
    path : tuple of int
        Where it is, as the compiler numbers the places of comments.
    comments : dict
        The comments of the file by such places.
    """

    def __init__(self, descriptor, path, comments):
        self.descriptor = descriptor
        self.name = descriptor.name
        self._path = path
        self._comments = comments

    def parts(self, field: str) -> Iterator["Part"]:
        """The parts that a field of the descriptor lists, such as `value`."""
        number = type(self.descriptor).DESCRIPTOR.fields_by_name[field].number
        for index, descriptor in enumerate(getattr(self.descriptor, field)):
            yield Part(descriptor, (*self._path, number, index), self._comments)

    @property
    def comment(self) -> str:
        """What the comment says; every part that is shown must have one."""
        if self._path not in self._comments:
            raise SystemExit(f"{self.name} has no comment")
        return self._comments[self._path]

    @property
    def cell(self) -> str:
        """The comment for a cell of a table."""
        paragraphs = self.comment.replace("|", "\\|").split("\n\n")
        return "<br>".join(paragraph.replace("\n", " ") for paragraph in paragraphs)

    @property
    def sentence(self) -> str:
        """The first sentence of the comment."""
        first, stop, _ = self.cell.partition("<br>")[0].partition(". ")
        return first + stop.strip()

    @property
    def choice(self) -> int | None:
        """The number of the oneof that a field belongs to."""
        field = self.descriptor
        return (
            field.oneof_index
            if field.HasField("oneof_index") and not field.proto3_optional
            else None
        )


class File(Part):
    """A .proto file; its comment is the one that stands by itself above everything."""

    def __init__(self, descriptor: FileDescriptorProto) -> None:
        comments = {}
        for location in descriptor.source_code_info.location:
            text = location.leading_comments
            if tuple(location.path) == (FileDescriptorProto.PACKAGE_FIELD_NUMBER,):
                comments[()] = _plain(location.leading_detached_comments[0])
            elif text:
                comments[tuple(location.path)] = _plain(text)
        super().__init__(descriptor, (), comments)
        self.page = Path(descriptor.name).stem
        self.title = self.page.replace("_", " ").capitalize()


def _plain(comment: str) -> str:
    """A comment without the space after its slashes."""
    return "\n".join(line.removeprefix(" ") for line in comment.strip().splitlines())


def read_files() -> list[File]:
    """Compile the files of the contract; the services come first."""
    sources = sorted(PROTO.glob("aleator/v1/*.proto"))
    with TemporaryDirectory() as folder:
        output = Path(folder) / "descriptors"
        command = ["protoc", f"-I{PROTO}", f"-I{files('grpc_tools') / '_proto'}"]
        command += ["--include_source_info", f"--descriptor_set_out={output}"]
        if protoc.main([*command, *map(str, sources)]) != 0:
            raise SystemExit("the .proto files do not compile: see the messages above")
        compiled = FileDescriptorSet.FromString(output.read_bytes()).file
    return sorted(map(File, compiled), key=lambda file: (not file.descriptor.service, file.page))


def pages() -> dict[str, str]:
    """Write the pages, by the names of their files."""
    found = read_files()
    home = {
        f"{PACKAGE}{part.name}": file.page
        for file in found
        for kind in ("service", "message_type", "enum_type")
        for part in file.parts(kind)
    }

    def link(name: str) -> str:
        """A type's name, with a link to where it is explained."""
        for package, address in ELSEWHERE.items():
            if name.startswith(package):
                return f"[{name[1:]}]({address})"
        short = name.removeprefix(PACKAGE)
        return f"[{short}]({home[name]}.md#{short.lower()})"

    def kind(field: FieldDescriptorProto) -> str:
        """The type of a field, and how often it may be there."""
        name = link(field.type_name) if field.type_name else _scalar(field)
        if field.label == FieldDescriptorProto.LABEL_REPEATED:
            return f"repeated {name}"
        return f"optional {name}" if field.proto3_optional else name

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {"link": link, "kind": kind, "package": PACKAGE}
    page = environment.get_template("api_page.md.jinja")
    written = {f"{file.page}.md": page.render(file=file) for file in found}
    return written | {INDEX: environment.get_template("api_index.md.jinja").render(files=found)}


def _scalar(field: FieldDescriptorProto) -> str:
    return FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()


def main() -> None:
    """Write the pages, and nothing else, into their folder."""
    PAGES.mkdir(exist_ok=True)
    for old in PAGES.glob("*.md"):
        old.unlink()
    for name, text in pages().items():
        (PAGES / name).write_text(text)


if __name__ == "__main__":
    main()
