"""Resolves with `uv pip compile`: packages from its pylock.toml, dependency edges from its debug log."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from rocm3d.verify.resolution.index import IndexSettings, uv_settings_options
from rocm3d.verify.resolution.resolver import (
    DependencyEdge,
    Resolution,
    ResolutionProblem,
    ResolvedPackage,
    ResolveRequest,
)
from rocm3d.workspace.process import run
from rocm3d.workspace.programs import find_program
from rocm3d.workspace.state import cache_folder

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SECONDS = 300.0
_LOG_BYTES = 64 * 1024 * 1024
# glibc of Ubuntu 22.04, the oldest system in any stack's image.
_PLATFORMS = {"linux": "x86_64-manylinux_2_35", "wsl": "x86_64-manylinux_2_35", "windows": "x86_64-pc-windows-msvc"}
_DIRECT = re.compile(r"^DEBUG Adding direct dependency: ([\w.-]+?)(?:\[[^\]]*\])?([*<>=!~].*)?$")
_TRANSITIVE = re.compile(
    r"^DEBUG Adding transitive dependency for ([\w.-]+?)(?:\[[^\]]*\])?==(\S+): ([\w.-]+?)(?:\[[^\]]*\])?([*<>=!~].*)?$"
)
_NO_SOLUTION = "No solution found when resolving dependencies"
_LOG_LINE = re.compile(r"(DEBUG|TRACE|INFO|WARN) |warning: ")
_BUILD = re.compile(r"Failed to (?:download and )?build `([\w.-]+)")
_FETCH = re.compile(r"Failed to fetch:? `?([^\s`]+)|Git operation failed|error sending request")
_CAUSE = re.compile(r"^\s*(?:×|├─▶|╰─▶|│|cause:|Caused by:|error:)\s?")


@dataclass(frozen=True)
class Uv:
    """A uv executable and its index settings."""

    executable: str
    indexes: IndexSettings
    seconds: float = SECONDS

    @cached_property
    def label(self) -> str:
        """uv and its version."""
        words = run([self.executable, "--version"]).stdout.decode("utf-8", "replace").split()
        return " ".join(words[:2]) or "uv"

    def resolve(self, request: ResolveRequest) -> Resolution:
        """Runs `uv pip compile` for the stack's Python and platform, in a folder without a project."""
        ended = run(
            self._command(request),
            cwd=request.requirements.parent,
            env=self._environment(request),
            seconds=self.seconds,
            keep_bytes=_LOG_BYTES,
        )
        log = ended.stderr.decode("utf-8", "replace")
        edges = tuple(dict.fromkeys(parse_edges(log)))
        if ended.timed_out:
            text = f"{self.label} was stopped at the {self.seconds:.0f} s limit"
            return Resolution(edges=edges, problem=ResolutionProblem("time-out", text))
        if ended.code != 0:
            return Resolution(edges=edges, problem=parse_problem(log))
        return Resolution(parse_lock(ended.stdout.decode("utf-8", "replace")), edges)

    def _command(self, request: ResolveRequest) -> list[str]:
        command = [self.executable, "pip", "compile", str(request.requirements), "--format", "pylock.toml"]
        command += ["--no-header", "--no-progress", "--color", "never", "--no-python-downloads"]
        command += ["--python", sys.executable, "--python-version", request.python]
        command += ["--python-platform", _PLATFORMS[request.platform], "--cache-dir", str(cache_folder() / "uv")]
        command += ["--no-deps"] if request.without_dependencies else []
        command += uv_settings_options()
        # A build that requires the base gets the stub wheel: avoids downloading a CUDA wheel for its metadata.
        for path in request.constraints:
            command += ["--constraints", str(path), "--build-constraints", str(path)]
        for path in request.overrides:
            command += ["--overrides", str(path)]
        for folder in (*request.links, *self.indexes.links):
            command += ["--find-links", str(folder)]
        if self.indexes.links:
            command.append("--no-index")
        if self.indexes.extra or request.indexes:  # all indexes have equal priority, as with pip
            command += ["--index-strategy", "unsafe-best-match"]
        return command

    def _environment(self, request: ResolveRequest) -> dict[str, str]:
        environment = self.indexes.uv_environment(os.environ, request.index)
        if request.indexes:
            environment["UV_INDEX"] = " ".join([*environment.get("UV_INDEX", "").split(), *request.indexes])
        return environment | {"RUST_LOG": "uv_resolver=debug", "UV_HTTP_TIMEOUT": "30", "UV_HTTP_RETRIES": "2"}


def find_uv() -> str | None:
    """The uv of rocm3d's own environment, else the one on PATH, but none that a repository has."""
    return shutil.which("uv", path=str(Path(sys.executable).parent)) or find_program("uv")


def parse_lock(lock: str) -> tuple[ResolvedPackage, ...]:
    """The distributions of a pylock.toml."""
    entries: list[dict[str, Any]] = tomllib.loads(lock).get("packages", [])
    return tuple(_parse_package(item) for item in entries)


def _parse_package(entry: dict[str, Any]) -> ResolvedPackage:
    wheels = entry.get("wheels") or []
    file = wheels[0] if wheels else entry.get("sdist") or entry.get("archive") or entry.get("vcs") or {}
    url = str(file.get("url") or file.get("path") or "")
    is_source = not wheels and not unquote(url).endswith(".whl")
    files = tuple(_hashed_files([*wheels, *([entry["sdist"]] if entry.get("sdist") else [])]))
    return ResolvedPackage(str(entry["name"]), str(entry.get("version", "")), url, file.get("size"), is_source, files)


def _hashed_files(files: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    for file in files:
        url = unquote(str(file.get("url") or file.get("path") or ""))
        digest = (file.get("hashes") or {}).get("sha256")
        if digest:
            yield str(file.get("name") or url.rsplit("/", 1)[-1]), str(digest)


def parse_edges(log: str) -> Iterator[DependencyEdge]:
    """Dependency edges of every version that the resolver tried."""
    for line in log.splitlines():
        if match := _TRANSITIVE.match(line):
            yield DependencyEdge(match[1], match[2], match[3], _specifier(match[4] or ""))
        elif match := _DIRECT.match(line):
            yield DependencyEdge("", "", match[1], _specifier(match[2] or ""))


def _specifier(text: str) -> str:
    """In requirement syntax: uv logs `==2.1` as `>=2.1, <2.1+`, `!=2.1` as two ranges, and `*` for any version."""
    return "|".join(_parse_range(part) for part in text.split(" | ")) if text != "*" else ""


def _parse_range(text: str) -> str:
    pinned = re.fullmatch(r">=(\S+), <(\S+)\+", text)
    if pinned and pinned[1] == pinned[2]:
        return f"=={pinned[1]}"
    # `X+` means X with any local version.
    bounds = (re.sub(r"^<=?(.*)\+$", r"<=\1", re.sub(r"^>=(.*)\+$", r">\1", part)) for part in text.split(", "))
    return ",".join(bounds)


def parse_problem(log: str) -> ResolutionProblem:
    """The reason that uv failed, from the output lines that are not log lines."""
    error_lines = [line for line in log.splitlines() if not _LOG_LINE.match(line)]
    text = " ".join(" ".join(_CAUSE.sub("", line) for line in error_lines).split())
    build_error, fetch_error = _BUILD.search(text), _FETCH.search(text)
    subject = build_error[1] if build_error else ""
    if fetch_error:
        return ResolutionProblem("unreachable", text[:300], subject or fetch_error[1] or "")
    if build_error:
        # What follows [stderr] names our scratch folders.
        return ResolutionProblem("build", text.partition("[stderr]")[0].strip()[:300], subject)
    if _NO_SOLUTION in text:
        return ResolutionProblem("conflict", text.removeprefix(_NO_SOLUTION).lstrip(": ")[:600])
    return ResolutionProblem("other", text[:300] or "uv printed no error")
