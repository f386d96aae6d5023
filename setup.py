"""The build steps pyproject.toml cannot state: protobuf modules and Cython extensions.

The top-level folders are parts of one import package (`package-dir` in
pyproject.toml), but Cython and mypy look for its modules by path. For them the
build makes `build/packages`, symbolic links in the shape of that package.

With ALEATOR_DEBUG=1 the extensions check what the normal build takes on trust:
array bounds, null pointers and other undefined behaviour in C, indices of
Cython buffers, and the assertions of `aleator.ext.core.check`. A fault ends
the process with a message.

Limits: compilers that take GCC's options; systems with symbolic links.
"""

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from sysconfig import get_platform

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

DEBUG = os.environ.get("ALEATOR_DEBUG") == "1"
BUILD = Path("build")
PACKAGES = BUILD / "packages"
FOLDERS = ("client", "ext", "search", "service")

if DEBUG:
    LINK_FLAGS = ["-fsanitize=undefined,bounds-strict", "-fno-sanitize-recover=all"]
    COMPILE_FLAGS = ["-O1", "-g", "-fno-omit-frame-pointer", "-fno-wrapv", "-UNDEBUG", *LINK_FLAGS]
    # Python's objects through functions: its own headers break the strict bounds.
    COMPILE_FLAGS.append("-DPy_LIMITED_API=0x030B0000")
else:
    COMPILE_FLAGS = ["-O3", "-DNDEBUG"]
    LINK_FLAGS = []
if platform.machine() == "x86_64":
    COMPILE_FLAGS.append("-march=x86-64-v2")  # popcount as one instruction

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "initializedcheck": DEBUG,
    "wraparound": False,
    "cdivision": True,  # in both builds, so that both round alike
}


def link_packages() -> None:
    """Make `build/packages/aleator` out of symbolic links."""
    package = PACKAGES / "aleator"
    package.mkdir(parents=True, exist_ok=True)
    parts = [*Path("proto/aleator").iterdir(), *map(Path, FOLDERS)]
    for part in parts:
        link = package / part.name
        if not link.is_symlink():
            link.symlink_to(os.path.relpath(part, package))


def write_if_changed(path: Path, text: str) -> None:
    """Write a file, or leave its time alone if it already has this text."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@contextmanager
def times_kept(folder: Path) -> Iterator[None]:
    """Leave the times of files alone that are written again with the text that they had."""
    before = {path: (path.read_bytes(), path.stat()) for path in folder.rglob("*.c")}
    yield
    for path, (text, status) in before.items():
        if path.exists() and path.read_bytes() == text:
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


class BuildModules(build_py):
    """Generates the protobuf modules beside their .proto files first."""

    def run(self) -> None:
        from grpc_tools import protoc  # not needed to build extensions only

        sources = sorted(str(path) for path in Path("proto/aleator").rglob("*.proto"))
        outputs = [f"--{kind}_out=proto" for kind in ("python", "pyi", "grpc_python")]
        includes = ["-Iproto", f"-I{files('grpc_tools') / '_proto'}"]
        if sources and protoc.main(["protoc", *includes, *outputs, *sources]) != 0:
            raise SystemExit("the .proto files do not compile: see the messages above")
        link_packages()
        super().run()


class BuildExtensions(build_ext):
    """Translates the .pyx files first; compiles as many at once as there are cores."""

    def finalize_options(self) -> None:
        if self.editable_mode:  # else in new temporary folders, where nothing is compiled yet
            platform_tag = f"{get_platform()}-{sys.implementation.cache_tag}"
            self.build_lib = str(BUILD / f"lib.{platform_tag}")
            self.build_temp = str(BUILD / f"temp.{platform_tag}")
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def build_extensions(self) -> None:
        link_packages()
        flags = BUILD / "flags"  # newer than extensions built with other flags
        write_if_changed(flags, "\n".join([*COMPILE_FLAGS, *LINK_FLAGS]))
        folder = BUILD / ("cython-debug" if DEBUG else "cython")
        # An isolated build has a Cython of its own, newer than all that was translated.
        with times_kept(folder):
            translated = cythonize(
                self.extensions,
                include_path=[str(PACKAGES)],
                build_dir=str(folder),
                compiler_directives=DIRECTIVES,
                emit_linenums=True,  # faults, warnings and profiles name lines of the .pyx
            )
        sources = {extension.name: extension.sources for extension in translated}
        for extension in self.extensions:
            extension.sources = sources[extension.name]
            extension.depends.append(str(flags))
        super().build_extensions()


inits = [path for part in FOLDERS for path in Path(part).rglob("__init__.py")]
setup(
    packages=[
        "aleator",
        "aleator.v1",
        *sorted("aleator." + ".".join(path.parent.parts) for path in inits),
    ],
    ext_modules=[
        Extension(
            name="aleator." + ".".join(path.with_suffix("").parts),
            sources=[str(path)],
            extra_compile_args=COMPILE_FLAGS,
            extra_link_args=LINK_FLAGS,
        )
        for path in sorted(Path("ext").rglob("*.pyx"))
    ],
    cmdclass={"build_py": BuildModules, "build_ext": BuildExtensions},
)
