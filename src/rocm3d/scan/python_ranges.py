"""The Python versions that a repository requires, and those that its own environments have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.manifest.version_ranges import pip_specifier
from rocm3d.model.finding import Location
from rocm3d.model.inventory import PythonVersions
from rocm3d.scan.auxiliary_files import is_auxiliary

# `python:3.10-slim`, `devcontainers/python:1-3.10-bookworm`, `rocm/pytorch:rocm7.2_ubuntu22.04_py3.10_...`
_IMAGE = re.compile(r"(?:^|/)python:(?:\d+-)?(3\.\d+)(?![\da-z])|_py(3\.\d+)(?!\d)")
_REQUIRING_SECTIONS = frozenset({"poetry"})
_MAX_DEPTH = 1
"""Folders above a file that describes an environment of the repository itself, as in docker/Dockerfile."""


def python_versions(unit: ParsedManifest) -> Iterator[PythonVersions]:
    """The ranges that count for the repository: a requirement of its top folder, or a statement about its environment.

    A package in a deeper folder may be another program with requirements of its own.
    """
    depth = unit.path.count("/")
    if depth > _MAX_DEPTH or is_auxiliary(unit.path) or unit.kind == "workflow":
        return
    for specifier, line, column, is_required in _ranges(unit):
        if specifier and (not is_required or not depth):
            location = Location(path=unit.path, line=line, column=column)
            yield PythonVersions(specifier=specifier, location=location, required=is_required)


def _ranges(unit: ParsedManifest) -> Iterator[tuple[str, int, int, bool]]:
    """Specifier, line, column, and whether an installer refuses other versions."""
    for item in unit.pythons:
        yield item.specifier, item.line, item.column, item.required
    for mention in unit.mentions:
        if mention.name == "python":
            is_required = mention.section in _REQUIRING_SECTIONS
            yield pip_specifier(mention.version.replace(" ", "")), mention.line, mention.column, is_required
    for image in unit.images:
        match = _IMAGE.search(image.name)
        if match:
            yield f"=={match[1] or match[2]}.*", image.line, image.column, False
