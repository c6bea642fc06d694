"""Resolves with `pip install --dry-run --report`. pip evaluates markers for the Python it runs in, not the target's."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rocm3d.verify.resolution.index import IndexSettings
from rocm3d.verify.resolution.resolver import (
    DependencyEdge,
    Resolution,
    ResolutionProblem,
    ResolvedPackage,
    ResolveRequest,
)
from rocm3d.workspace.process import run, scratch_folder
from rocm3d.workspace.programs import find_program

SECONDS = 600.0
_LOG_BYTES = 16 * 1024 * 1024
_REPORT = "report.json"
_FROM = re.compile(r"^(?:Collecting|Processing) (.+?) \(from (.+)\)$")
_DEPENDS = re.compile(r"^\s+([\w.-]+)(?:\[[^\]]*\])? (\S+) depends on (.+)$")
_BUILD = re.compile(r"Failed to build '?([\w.-]+)|metadata-generation-failed|Getting requirements to build wheel")
_FETCH = re.compile(r"Failed to establish a new connection|NameResolutionError|Could not resolve host|ReadTimeoutError")


@dataclass(frozen=True)
class Pip:
    """A pip command and its index settings."""

    command: tuple[str, ...]
    indexes: IndexSettings
    seconds: float = SECONDS

    @cached_property
    def label(self) -> str:
        """pip, its version, and the Python that it evaluates markers for."""
        with scratch_folder() as folder:  # -m imports from the working folder first
            words = run([*self.command, "--version"], cwd=folder).stdout.decode("utf-8", "replace").split()
        return f"{' '.join(words[:2]) or 'pip'} (markers evaluated for Python {platform.python_version()})"

    def resolve(self, request: ResolveRequest) -> Resolution:
        """Resolves for the stack's Python and platform. If that Python is not this one, pip can use only wheels."""
        report = request.requirements.parent / _REPORT
        report.unlink(missing_ok=True)
        ended = run(
            [*self.command, "install", *self._options(request), "--report", str(report)],
            cwd=request.requirements.parent,
            env=self._environment(request),
            seconds=self.seconds,
            keep_bytes=_LOG_BYTES,
        )
        log = (ended.stdout + b"\n" + ended.stderr).decode("utf-8", "replace")
        if ended.timed_out:
            return Resolution(
                problem=ResolutionProblem("time-out", f"pip was stopped at the {self.seconds:.0f} s limit")
            )
        if ended.code != 0 or not report.is_file():
            return Resolution(edges=tuple(dict.fromkeys(parse_edges(log))), problem=parse_problem(log))
        return read_report(json.loads(report.read_text(encoding="utf-8")))

    def _options(self, request: ResolveRequest) -> list[str]:
        options = ["--dry-run", "--ignore-installed", "--no-input", "--disable-pip-version-check", "--no-color"]
        options += ["--progress-bar", "off", "--requirement", str(request.requirements)]
        # Metadata by range requests if the index does not offer it: avoids downloading a CUDA wheel for its metadata.
        options += ["--use-feature", "fast-deps"]
        if request.python != ".".join(platform.python_version_tuple()[:2]):
            options += ["--only-binary", ":all:", "--python-version", request.python]
            # Older releases of pip require --target with these options, although nothing is installed.
            options += ["--target", str(request.requirements.parent / "never")]
            for tag in _platform_tags(request.platform):
                options += ["--platform", tag]
        for path in request.constraints:
            options += ["--constraint", str(path)]
        for folder in (*request.links, *self.indexes.links):
            options += ["--find-links", str(folder)]
        options += ["--no-index"] if self.indexes.links else []
        options += ["--no-deps"] if request.without_dependencies else []
        return options

    def _environment(self, request: ResolveRequest) -> dict[str, str]:
        environment = self.indexes.pip_environment(os.environ, request.index)
        if request.indexes:
            extra = [*environment.get("PIP_EXTRA_INDEX_URL", "").split(), *request.indexes]
            environment["PIP_EXTRA_INDEX_URL"] = " ".join(extra)
        return environment


def find_pip() -> tuple[str, ...] | None:
    """The pip of rocm3d's own environment, else the one on PATH."""
    if importlib.util.find_spec("pip") is not None:
        return (sys.executable, "-m", "pip")
    executable = find_program("pip")
    return None if executable is None else (executable,)


def read_report(report: dict[str, Any]) -> Resolution:
    """The distributions and dependency edges of an installation report."""
    packages, edges = [], []
    for item in report.get("install", []):
        name = str(canonicalize_name(item["metadata"]["name"]))
        version, url = str(item["metadata"]["version"]), str(item["download_info"]["url"])
        packages.append(ResolvedPackage(name, version, url, None, not url.split("#", maxsplit=1)[0].endswith(".whl")))
        edges += [DependencyEdge("", "", name)] if item.get("requested") else []
        for text in item["metadata"].get("requires_dist", []):
            edges += _parse_edge(name, version, text)
    return Resolution(tuple(packages), tuple(edges))


def parse_edges(log: str) -> Iterator[DependencyEdge]:
    """Dependency edges, from `(from b->a->-r file)` and from pip's explanation of a conflict."""
    for line in log.splitlines():
        if match := _FROM.match(line.strip()):
            parents = [re.split(r"[\[<>=!~; ]", part.strip())[0] for part in match[2].split("->")]
            requested = re.match(r"[\w.-]+", match[1].rsplit("/", 1)[-1])
            child = _distribution_name(requested[0]) if requested else ""
            for parent in parents:
                # The last element is the requirements file.
                yield DependencyEdge("" if parent.startswith("-") else _distribution_name(parent), "", child)
                child = _distribution_name(parent)
        elif match := _DEPENDS.match(line):
            yield from _parse_edge(_distribution_name(match[1]), match[2], match[3])


def parse_problem(log: str) -> ResolutionProblem:
    """The reason that pip failed, from its output."""
    error_lines = [
        line.removeprefix("ERROR: ").strip() for line in log.splitlines() if line.startswith(("ERROR", "    The "))
    ]
    depends = [line.strip() for line in log.splitlines() if " depends on " in line]
    text = " ".join([*error_lines[:1], *depends]).strip()[:600] or "pip printed no error"
    if _FETCH.search(log):
        return ResolutionProblem("unreachable", text[:300])
    if "conflicting dependencies" in log or "No matching distribution" in log or "ResolutionImpossible" in log:
        return ResolutionProblem("conflict", text)
    build_error = _BUILD.search(log)
    return ResolutionProblem(
        "build" if build_error else "other", text[:300], (build_error[1] or "") if build_error else ""
    )


def _parse_edge(parent: str, version: str, text: str) -> list[DependencyEdge]:
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return []
    return [DependencyEdge(parent, version, str(canonicalize_name(requirement.name)), str(requirement.specifier))]


def _distribution_name(text: str) -> str:
    """The distribution name of a name or of a wheel's file name."""
    return str(canonicalize_name(text.split("-", maxsplit=1)[0] if text.endswith(".whl") else text))


def _platform_tags(target: str) -> list[str]:
    if target == "windows":
        return ["win_amd64"]
    numbered = [f"manylinux_2_{minor}_x86_64" for minor in range(5, 36)]
    return [*numbered, "manylinux1_x86_64", "manylinux2010_x86_64", "manylinux2014_x86_64"]
