"""Code that a port needs and that was not scanned: submodules that are not checked out, and git+ dependencies."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rocm3d.apply.folders import Folders
from rocm3d.apply.needs import needs
from rocm3d.apply.origin import Checkout
from rocm3d.apply.template import one_line
from rocm3d.model.patch import UnscannedCode

if TYPE_CHECKING:
    from rocm3d.model.plan import Plan
    from rocm3d.workspace.tree import Tree


def unseen(plan: Plan, tree: Tree, folder: str) -> tuple[UnscannedCode, ...]:
    """Each with the commands that port it. Sources that already have a patch in the port folder are left out."""
    found = [*_submodules(plan, tree, folder), *_clones(plan, tree, folder)]
    return tuple(sorted(found, key=lambda item: (item.where, item.name)))


def _submodules(plan: Plan, tree: Tree, folder: str) -> Iterator[UnscannedCode]:
    paths = tree.paths()
    for item in Folders(tree).submodules:
        # A submodule whose files are present without a .git is part of this repository and was scanned with it.
        if not any(path.startswith(f"{item.path}/") for path in paths):
            yield UnscannedCode(
                name=one_line(item.path),
                where=".gitmodules",
                reason="submodule not checked out",
                commands=(
                    shlex.join(["git", "submodule", "update", "--init", "--", item.path]),
                    shlex.join(["rocm3d", "apply", ".", "--gpu", plan.gpu.product, *_named(folder)]),
                ),
            )


def _clones(plan: Plan, tree: Tree, folder: str) -> Iterator[UnscannedCode]:
    patches = tree.root / folder / "patches"
    for source in needs(plan, tree).sources.values():
        what = source.what
        if not isinstance(what, Checkout) or any(patches.glob(f"{what.name}@*.patch")):
            continue
        place = f"../{what.place}"
        patch = f"{shlex.quote(f'{folder}/patches/{what.name}@')}$(git -C {shlex.quote(place)} rev-parse HEAD).patch"
        commands = [
            shlex.join(["git", "clone", "--recurse-submodules", what.url, place]),
            *([shlex.join(["git", "-C", place, "checkout", what.revision])] if what.revision else []),
            f"{shlex.join(['rocm3d', 'apply', place, '--gpu', plan.gpu.product, '--dry-run', '--patch'])} {patch}",
        ]
        yield UnscannedCode(
            name=one_line(what.name),
            where=one_line(f"{what.url}@{what.revision}" if what.revision else what.url),
            reason="git dependency, not checked out",
            commands=tuple(one_line(line) for line in commands),
        )


def _named(folder: str) -> tuple[str, ...]:
    return () if folder == "rocm-port" else ("--folder", folder)
