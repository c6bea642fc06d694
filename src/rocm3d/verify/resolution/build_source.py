"""Reads pyproject.toml and setup.py of a folder, a git repository or an sdist, and what the build requires."""

from __future__ import annotations

import ast
import io
import os
import posixpath
import re
import tarfile
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from rocm3d.manifest import pyproject, setup_py
from rocm3d.manifest.manifest import Mention
from rocm3d.model.errors import MachineError
from rocm3d.verify.resolution.sets import RequirementLine, to_line
from rocm3d.workspace.process import run
from rocm3d.workspace.tree import Tree
from rocm3d.workspace.web import WebClient, without_secrets

_NAMES = ("pyproject.toml", "setup.py")
_MAX_ARCHIVE_BYTES = 64 * 1024 * 1024
_MAX_FILE_BYTES = 1024 * 1024
_GIT_SECONDS = 60.0
_GIT = re.compile(r"git\+(?P<url>\w+://[^/]*/[^@#]*)(?:@(?P<ref>[^#]+))?(?:#(?P<fragment>.*))?$")
_BUILD_SECTIONS = ("build-system", "setup_requires")
_DEFAULT_LINES = (RequirementLine("setuptools", "setuptools"),)  # the default without a pyproject.toml (PEP 518)


@dataclass(frozen=True)
class BuildFiles:
    """Contents of pyproject.toml and setup.py; None for a file that does not exist."""

    pyproject: bytes | None = None
    setup: bytes | None = None

    def __bool__(self) -> bool:
        return self.pyproject is not None or self.setup is not None


@dataclass(frozen=True)
class GitSource:
    """A folder of a git repository at a ref."""

    url: str
    ref: str = "HEAD"
    subdirectory: str = ""


def git_source(requirement: str) -> GitSource | None:
    """Parses `git+https://host/owner/name@ref#subdirectory=x`; None for other requirements."""
    match = _GIT.match(requirement.strip())
    if match is None:
        return None
    subdirectory = re.search(r"subdirectory=([^&]+)", match["fragment"] or "")
    return GitSource(match["url"], match["ref"] or "HEAD", subdirectory[1] if subdirectory else "")


def build_files_in_tree(tree: Tree, folder: str) -> BuildFiles:
    """From a folder of the repository."""
    paths = [posixpath.normpath(posixpath.join(folder, name)) for name in _NAMES]
    return BuildFiles(*(tree.read(path) if path in tree else None for path in paths))


def build_files_from_git(source: GitSource, web: WebClient, clone_folder: Path) -> BuildFiles:
    """Fetches only these files of a git repository. Raises MachineError if that fails."""
    why = web.why_unreachable(source.url)
    if why:
        raise MachineError(f"{without_secrets(source.url)} does not respond: {why}")
    repository = str(clone_folder)
    steps = [
        ["git", "init", "--quiet", "--bare", repository],
        ["git", "-C", repository, "remote", "add", "origin", source.url],
        # A ref of the repository's requirements could look like an option: --upload-pack names a program.
        [
            *("git", "-C", repository, "fetch", "--quiet", "--depth", "1", "--filter=blob:none", "--"),
            "origin",
            source.ref,
        ],
    ]
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    for step in steps:
        ended = run(step, env=environment, seconds=_GIT_SECONDS)
        if ended.code != 0:
            stderr = " ".join(ended.stderr.decode("utf-8", "replace").split())[:200]
            raise MachineError(f"{without_secrets(source.url)} at {source.ref}: {stderr or 'git timed out'}")
    return BuildFiles(
        *(_git_show(repository, posixpath.join(source.subdirectory, name), environment) for name in _NAMES)
    )


def _git_show(repository: str, path: str, environment: dict[str, str]) -> bytes | None:
    command = ["git", "-C", repository, "show", f"FETCH_HEAD:{path}"]
    ended = run(command, env=environment, seconds=_GIT_SECONDS, keep_bytes=_MAX_FILE_BYTES)
    return ended.stdout if ended.code == 0 and not ended.capped else None


def build_files_from_archive(url: str, web: WebClient) -> BuildFiles:
    """Reads the files of a source archive. Raises MachineError if that fails."""
    data = web.fetch(url, _MAX_ARCHIVE_BYTES)
    if data is None:
        raise MachineError(
            f"cannot fetch {without_secrets(url)}, or it is larger than {_MAX_ARCHIVE_BYTES // 1024**2} MiB"
        )
    try:
        files = dict(_members(data))
    except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError) as error:
        raise MachineError(f"cannot read {without_secrets(url)}: {error}") from error
    return BuildFiles(*(files.get(name) for name in _NAMES))


def _members(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The build files in the archive's top folder. Nothing is unpacked to disk."""
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for item in archive.infolist():
                if _is_build_file(item.filename) and item.file_size <= _MAX_FILE_BYTES:
                    yield posixpath.basename(item.filename), archive.read(item)
        return
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            if member.isfile() and _is_build_file(member.name) and member.size <= _MAX_FILE_BYTES:
                stream = archive.extractfile(member)
                if stream is not None:
                    yield posixpath.basename(member.name), stream.read()


def _is_build_file(path: str) -> bool:
    return posixpath.basename(path) in _NAMES and posixpath.normpath(path).count("/") == 1


@dataclass(frozen=True)
class BuildRequirements:
    """Required distributions, and the top-level modules that setup.py imports."""

    lines: tuple[RequirementLine, ...]
    modules: frozenset[str]

    def describe_use(self, names: Iterable[str], modules: Iterable[str]) -> str:
        """A text that names which of these the build declares or imports; empty if none."""
        declared = [line.name for line in self.lines if line.name in set(names)]
        imported = [module for module in sorted(self.modules) if module in set(modules)]
        if declared:
            return f"its build requires {', '.join(declared)}"
        return f"its setup.py imports {', '.join(imported)}" if imported else ""


def read_build_requirements(files: BuildFiles) -> BuildRequirements:
    """Reads the files; runs nothing."""
    mentions: list[Mention] = []
    if files.pyproject is not None:
        mentions += pyproject.read("pyproject.toml", files.pyproject).mentions
    if files.setup is not None:
        mentions += setup_py.read("setup.py", files.setup).mentions
    candidates = (to_line(_without_section(item)) for item in mentions if item.section in _BUILD_SECTIONS)
    lines = tuple(dict.fromkeys(line for line in candidates if line is not None))
    return BuildRequirements(lines or _DEFAULT_LINES, _imported_modules(files.setup or b""))


def _without_section(mention: Mention) -> Mention:
    """Without its section, because `to_line` drops mentions of build sections."""
    return replace(mention, section="")


def _imported_modules(setup: bytes) -> frozenset[str]:
    """Top-level names of all imported modules, also of imports inside functions and branches."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escape sequences in the parsed file
            tree = ast.parse(setup)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return frozenset(names)
