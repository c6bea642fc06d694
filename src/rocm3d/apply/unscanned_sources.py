"""Code that a port needs and that was not scanned: submodules that are not checked out, and git+ dependencies."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from rocm3d.apply.installable_folders import InstallableFolders
from rocm3d.apply.repository_requirements import repository_requirements
from rocm3d.apply.requirement_source import GitCheckout
from rocm3d.apply.template import one_line
from rocm3d.model.patch import UnscannedCode
from rocm3d.model.plan import Plan
from rocm3d.workspace.tree import Tree


def unscanned_sources(plan: Plan, tree: Tree, folder: str) -> tuple[UnscannedCode, ...]:
    """Each with the commands that port it. Sources that already have a patch in the port folder are left out."""
    sources = [*_submodules(plan, tree, folder), *_clones(plan, tree, folder)]
    return tuple(sorted(sources, key=lambda source: (source.where, source.name)))


def _submodules(plan: Plan, tree: Tree, folder: str) -> Iterator[UnscannedCode]:
    paths = tree.paths()
    for submodule in InstallableFolders(tree).submodules:
        # A submodule whose files are present without a .git is part of this repository and was scanned with it.
        if not any(path.startswith(f"{submodule.path}/") for path in paths):
            yield UnscannedCode(
                name=one_line(submodule.path),
                where=".gitmodules",
                reason="submodule not checked out",
                commands=(
                    shlex.join(["git", "submodule", "update", "--init", "--", submodule.path]),
                    shlex.join(["rocm3d", "apply", ".", "--gpu", plan.gpu.product, *_folder_option(folder)]),
                ),
            )


def _clones(plan: Plan, tree: Tree, folder: str) -> Iterator[UnscannedCode]:
    patches = tree.root / folder / "patches"
    for source in repository_requirements(plan, tree).sources.values():
        git_checkout = source.location
        if not isinstance(git_checkout, GitCheckout) or any(patches.glob(f"{git_checkout.name}@*.patch")):
            continue
        clone_path = f"../{git_checkout.clone_folder}"
        prefix = shlex.quote(f"{folder}/patches/{git_checkout.name}@")
        patch = f"{prefix}$(git -C {shlex.quote(clone_path)} rev-parse HEAD).patch"
        commands = [
            shlex.join(["git", "clone", "--recurse-submodules", git_checkout.url, clone_path]),
            *(
                [shlex.join(["git", "-C", clone_path, "checkout", git_checkout.revision])]
                if git_checkout.revision
                else []
            ),
            f"{shlex.join(['rocm3d', 'apply', clone_path, '--gpu', plan.gpu.product, '--dry-run', '--patch'])} {patch}",
        ]
        yield UnscannedCode(
            name=one_line(git_checkout.name),
            where=one_line(
                f"{git_checkout.url}@{git_checkout.revision}" if git_checkout.revision else git_checkout.url
            ),
            reason="git dependency, not checked out",
            commands=tuple(one_line(line) for line in commands),
        )


def _folder_option(folder: str) -> tuple[str, ...]:
    return () if folder == "rocm-port" else ("--folder", folder)
