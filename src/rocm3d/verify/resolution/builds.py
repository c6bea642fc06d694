"""The source builds of a port, and where their sources are."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote

from packaging.utils import canonicalize_name

from rocm3d.verify.resolution.build_source import BuildFiles, git_source, of_archive, of_git, of_tree
from rocm3d.verify.resolution.commands import Install, clones
from rocm3d.verify.resolution.prepare import Prepared
from rocm3d.verify.resolution.sets import Line

if TYPE_CHECKING:
    from rocm3d.manifest.manifest import Mention
    from rocm3d.verify.resolution.build_source import GitSource
    from rocm3d.verify.resolution.session import Session
    from rocm3d.workspace.tree import Tree

OPEN = "--no-build-isolation"
_FROM_SOURCE = "--no-binary"


@dataclass(frozen=True)
class Build:
    """One build: its files, or the reason that they are missing. `open`: built without isolation.

    `wheel` is the file that pip would install instead of building; `how` is the command, for messages.
    """

    name: str
    files: BuildFiles = field(default_factory=BuildFiles)
    why: str = ""
    wheel: str = ""
    open: bool = False
    how: str = ""


def of_install(item: Install, tree: Tree, here: Session) -> list[Build]:
    """The builds of one install command of the plan."""
    is_open = OPEN in item.flags
    return [
        replace(_located(mention, item, tree, here), open=is_open, how=f"`{item.command}`") for mention in item.mentions
    ]


def of_name(name: str, text: str, here: Session) -> Build:
    """The build of a distribution that the index may have only as source."""
    asked = here.on_base(Prepared(name, (Line(name, text),)), alone=True)
    found = next((item for item in asked.resolution.packages if item.name == name), None)
    if found is None:
        problem = asked.resolution.problem
        return Build(name, why=problem.text if problem else "not found in the index")
    if not found.is_source:
        return Build(name, wheel=posixpath.basename(unquote(found.url)))
    return _had(name, of_archive(found.url, here.web))


def _located(mention: Mention, item: Install, tree: Tree, here: Session) -> Build:
    name, url = str(canonicalize_name(mention.name or item.decision.name)), mention.url
    if not url:
        found = of_name(name, mention.text, here)
        return replace(found, wheel="" if _FROM_SOURCE in item.command else found.wheel)
    source = git_source(url)
    if source is None and "://" in url:
        return _had(name, of_archive(url, here.web))
    folder = posixpath.normpath(url)
    if source is None:
        for cloned, origin in clones(item.decision).items():
            if folder == cloned or folder.startswith(f"{cloned}/"):
                source = replace(origin, subdirectory=folder.removeprefix(cloned).lstrip("/"))
    if source is not None:
        return _fetched(name, source, here)
    files = of_tree(tree, folder)
    return Build(name, files, "" if files else f"{folder} is not in the tree: a submodule that is not checked out?")


def of_git_line(line: Line, here: Session) -> Build | None:
    """The build of a requirement with a git URL; None for other requirements."""
    source = git_source(line.url)
    return None if source is None else _fetched(line.name, source, here)


def _fetched(name: str, source: GitSource, here: Session) -> Build:
    return _had(name, of_git(source, here.web, here.folder / f"git{next(here.numbers)}"))


def _had(name: str, files: BuildFiles | str) -> Build:
    if isinstance(files, str):
        return Build(name, why=files)
    return Build(name, files, "" if files else "its source has neither pyproject.toml nor setup.py")
