"""Compiles the rules of Goofspiel against the installed Aleator."""

from Cython.Build import cythonize
from setuptools import Extension, setup

from aleator.ext import include

setup(
    name="goofspiel",
    version="0.1.0",
    install_requires=["aleator"],
    package_dir={"goofspiel": "."},
    packages=["goofspiel"],
    package_data={"goofspiel": ["*.md", "*.pyi"]},
    ext_modules=cythonize(
        [Extension("goofspiel.rules", ["rules.pyx"], extra_compile_args=["-O3"])],
        build_dir="build",
        include_path=[include()],
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
        },
    ),
)
