"""lock.json: everything that the port fetches, by version and hash, commit or digest; and what is not locked, and why.

The two requirements files hold the locked packages in the form that pip checks.
"""

from __future__ import annotations

import json

from rocm3d.apply.install_steps import LOCKED_REQUIREMENTS, InstallSteps, install_steps, unlocked_package
from rocm3d.apply.target_needs import base_requirements
from rocm3d.model.lock import Lock, LockedImage, LockedPackage, UnlockedArtifact
from rocm3d.model.plan import Plan
from rocm3d.workspace.tree import Tree

NAME, ROUTE_PACKAGES = "lock.json", "locked.txt"


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    """The lock, the packages of the routes, and the requirements of the repository if the plan has resolved them."""
    install = install_steps(plan, tree)
    lock = port_lock(plan, install)
    files = {NAME: (json.dumps(lock.model_dump(mode="json"), indent=2) + "\n").encode()}
    if install.packages:
        files[ROUTE_PACKAGES] = _requirements(install.packages)
    if plan.resolved is not None and plan.resolved.packages:
        files[LOCKED_REQUIREMENTS] = _requirements(plan.resolved.packages)
    return files


def port_lock(plan: Plan, install: InstallSteps) -> Lock:
    """Everything that install.sh and the Dockerfile fetch."""
    base = plan.base
    unlocked = [
        *(unlocked_package(text, "the index of the base was not read") for text in base_requirements(plan)),
        *(artifact for step in install.steps for artifact in step.unlocked),
    ]
    images: list[LockedImage] = []
    if base is not None and base.image and base.digest is not None:
        images.append(LockedImage(image=base.image, digest=base.digest))
    elif base is not None and base.image:
        reason = base.unpinned or "no digest is recorded"
        unlocked.append(UnlockedArtifact(kind="image", name=base.image, reason=reason))
    resolved = plan.resolved.packages if plan.resolved is not None else ()
    return Lock(
        packages=tuple(dict.fromkeys((*install.packages, *resolved))),
        checkouts=install.checkouts,
        images=tuple(images),
        unlocked=tuple(dict.fromkeys(unlocked)),
    )


def _requirements(packages: tuple[LockedPackage, ...]) -> bytes:
    """One line for each package, which install.sh relies on."""
    return "".join(f"{line}\n" for line in sorted({package.requirement for package in packages})).encode()
