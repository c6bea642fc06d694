"""The steps of install.sh in order: one `pip install` for each index, then the builds."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.apply.folders import Folders
from rocm3d.apply.needs import Needs, Source, needs
from rocm3d.apply.origin import Checkout
from rocm3d.apply.route_commands import Rewritten, Wheels, clone_word, fetch_line, folder_word, rewritten
from rocm3d.apply.template import one_line
from rocm3d.apply.variables import settled

if TYPE_CHECKING:
    from rocm3d.model.plan import Plan
    from rocm3d.workspace.tree import Tree

ELSEWHERE = "requirements-rocm3d.txt"


@dataclass(frozen=True)
class Step:
    """A part of the install. install.sh checks after each step that torch is unchanged, and names the step if not."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Installation:
    """All steps, and what the user must install by hand."""

    steps: tuple[Step, ...]
    left: tuple[str, ...]


def installation(plan: Plan, tree: Tree) -> Installation:
    """Requirements first, since builds need them; the repository itself last, since it needs everything."""
    wanted, folders = needs(plan, tree), Folders(tree)
    routed = {item.name: rewritten(item, folders, wanted.paths.get(item.name)) for item in settled(plan)}
    builds = [*_builds(routed), *_sources(wanted)]
    steps = [*_submodules(folders), *(_TOOLS if builds else ()), *_requirements(wanted, tree), *_wheels(routed)]
    left = [f"{name}: {text}" for name, item in routed.items() for text in item.left]
    return Installation((*steps, *builds), tuple(one_line(text) for text in (*wanted.left, *left)))


def entry_files(wanted: Needs, tree: Tree) -> tuple[str, ...]:
    """Names, in the port folder, of the requirements files that the install starts with."""
    if "requirements.txt" not in tree:
        return ("requirements.txt",) if wanted.files or wanted.names else ()
    return ("requirements.txt", ELSEWHERE) if wanted.names else ("requirements.txt",)


# What the setup.py of an extension needs when it is built without isolation.
_TOOLS = (Step("build tools", ("tools setuptools wheel ninja packaging",)),)


def _submodules(folders: Folders) -> list[Step]:
    paths = [item.path for item in folders.submodules]
    return [Step("submodules", (f"submodules {shlex.join(paths)}",))] if paths else []


def _requirements(wanted: Needs, tree: Tree) -> list[Step]:
    files = " ".join(f'-r "$port"/{shlex.quote(name)}' for name in entry_files(wanted, tree))
    return [Step("requirements of the repository", (f"pip_install {files}",))] if files else []


def _wheels(routed: dict[str, Rewritten]) -> list[Step]:
    """One step for each set of options and environment, in the order of first use."""
    groups: dict[tuple[object, ...], list[Wheels]] = {}
    for item in routed.values():
        for wheels in item.wheels if not item.lines else ():
            groups.setdefault((wheels.options, wheels.env), []).append(wheels)
    return [_transaction(group) for group in groups.values()]


def _transaction(group: list[Wheels]) -> Step:
    names = list(dict.fromkeys(name for wheels in group for name in wheels.names))
    options = group[0].options
    index = options[options.index("--index-url") + 1] if "--index-url" in options else "the default index"
    env = [f"{name}={shlex.quote(value)}" for name, value in group[0].env]
    line = " ".join([*env, "pip_install", shlex.join([*options, *names])])
    return Step(one_line(f"{', '.join(names)} from {index}"), (line,))


def _builds(routed: dict[str, Rewritten]) -> list[Step]:
    """Two packages that one repository provides are built once."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name, item in routed.items():
        if item.lines:
            found.setdefault(tuple(item.lines), []).append(name)
    return [Step(f"{', '.join(names)}, built", lines) for lines, names in found.items()]


def _sources(wanted: Needs) -> list[Step]:
    clones = [item for item in wanted.sources.values() if isinstance(item.what, Checkout)]
    folders = [item for item in wanted.sources.values() if isinstance(item.what, str)]
    folders.sort(key=lambda item: item.what == ".")
    return [*map(_clone, clones), *map(_folder, folders)]


def _clone(item: Source) -> Step:
    assert isinstance(item.what, Checkout)
    place = clone_word(item.what.place, item.what.folder)
    at = f" at {item.what.revision}" if item.what.revision else ""
    lines = (fetch_line(item.what), " ".join(["build", place, _extras(item), *(["-e"] if item.editable else [])]))
    return Step(one_line(f"{item.what.name}{at}"), lines)


def _folder(item: Source) -> Step:
    """Built with --no-deps: its requirements are already installed, and what it declares may include torch."""
    assert isinstance(item.what, str)
    words = ["build", folder_word(item.what), _extras(item), "--no-deps", *(["-e"] if item.editable else [])]
    title = "the repository itself" if item.what == "." else item.what
    return Step(one_line(title), (" ".join(words),))


def _extras(item: Source) -> str:
    return shlex.quote(f"[{','.join(sorted(item.extras))}]" if item.extras else "")
