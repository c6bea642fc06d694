"""Scans and ports the git dependencies that were fetched. Their edits become patches that install.sh applies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.apply.git_patch import file_diff, mail_patch
from rocm3d.manifest.git_checkout import GitCheckout
from rocm3d.model.inventory import GIT_DEPENDENCY, UnscannedCode
from rocm3d.model.patch import Patch, SubmodulePatch
from rocm3d.workspace.fetched_dependencies import (
    FOLDER,
    FetchedDependency,
    read_fetched_dependencies,
    write_fetched_dependencies,
)
from rocm3d.workspace.state import state_folder
from rocm3d.workspace.submodule_fetch import SubmoduleFetch
from rocm3d.workspace.submodule_sources import SubmoduleSource

if TYPE_CHECKING:
    from rocm3d.apply.stage import ApplyOutcome


@dataclass(frozen=True)
class DependencyPort:
    """The patch of a dependency: its path in the port folder and its bytes, and the document of its edits."""

    dependency: FetchedDependency
    file: str
    data: bytes
    patch: Patch


def fetch_dependencies(
    root: Path,
    unscanned: Iterable[UnscannedCode],
    progress: Callable[[str], None],
    scan: Callable[[Path], tuple[UnscannedCode, ...]],
) -> tuple[str, ...]:
    """Fetch the git dependencies that name a commit. Returns one line for each that failed.

    `scan` returns what a scan of a folder cannot see.
    """
    known = {item.label: item for item in read_fetched_dependencies(root)}
    missing = {item.label: item for item in _pinned(unscanned) if item.label not in known}
    if not missing:
        return ()
    folder = state_folder(root) / FOLDER
    folder.mkdir(exist_ok=True)
    fetch = SubmoduleFetch(folder, progress, keep_git=False)
    fetch.fetch_all(SubmoduleSource(label, item.url, item.commit) for label, item in missing.items())
    fetched = [missing[item.path] for item in fetch.fetched if item.path in missing]
    scanned = (item.model_copy(update={"unscanned": scan(item.folder(root))}) for item in fetched)
    write_fetched_dependencies(root, (*known.values(), *scanned))
    return tuple(f"git dependency {item.path} was not fetched: {item.reason}" for item in fetch.failed)


def _pinned(unscanned: Iterable[UnscannedCode]) -> Iterator[FetchedDependency]:
    """A branch or tag is another commit tomorrow, so only a commit is fetched."""
    for item in unscanned:
        url, _, revision = item.where.rpartition("@")
        checkout = GitCheckout(url, revision)
        if item.reason == GIT_DEPENDENCY and item.commands and checkout.has_commit:
            yield FetchedDependency(name=checkout.name, url=url, commit=revision)


def dependency_ports(root: Path, port: Callable[[Path], tuple[ApplyOutcome, Patch]]) -> tuple[DependencyPort, ...]:
    """The ports of all fetched dependencies. `port` computes that of a folder."""
    return tuple(
        _dependency_port(item, item.folder(root), *port(item.folder(root))) for item in read_fetched_dependencies(root)
    )


def _dependency_port(item: FetchedDependency, folder: Path, outcome: ApplyOutcome, patch: Patch) -> DependencyPort:
    contents = {path: data for path, data in outcome.contents.items() if not path.startswith(f"{patch.folder}/")}
    contents |= outcome.submodule_contents
    diffs = [file_diff(path, (folder / path).read_bytes(), data) for path, data in sorted(contents.items())]
    text = f"For commit {item.commit} of {item.name}. Every edit is guarded: without ROCm nothing changes.\n"
    data = mail_patch(f"{item.name}: build and run with ROCm", text, diffs) if diffs else b""
    return DependencyPort(item, f"patches/{item.name}@{item.commit}.patch", data, patch)


def with_dependencies(patch: Patch, ports: tuple[DependencyPort, ...]) -> Patch:
    """The patch of the repository with the edits of its dependencies, and with what is left in them."""
    edited = tuple(
        SubmodulePatch(
            path=item.dependency.label,
            name=item.dependency.name,
            commit=item.dependency.commit,
            file=f"{patch.folder}/{item.file}",
            changes=item.patch.edited,
        )
        for item in ports
        if item.data
    )
    return patch.model_copy(
        update={
            "dependencies": edited,
            "left": (*patch.left, *(entry for item in ports for entry in _prefixed(item, item.patch).left)),
            "refused": (*patch.refused, *(entry for item in ports for entry in _prefixed(item, item.patch).refused)),
            "tasks": (*patch.tasks, *(entry for item in ports for entry in _prefixed(item, item.patch).tasks)),
        }
    )


def _prefixed(port: DependencyPort, patch: Patch) -> Patch:
    """With paths that name the dependency."""

    def path(text: str) -> Mapping[str, str]:
        return {"path": f"{port.dependency.label}/{text}"}

    left = (
        item.model_copy(update={"finding": item.finding.model_copy(update=path(item.finding.path))})
        for item in patch.left
    )
    return patch.model_copy(
        update={
            "left": tuple(left),
            "refused": tuple(item.model_copy(update=path(item.path)) for item in patch.refused),
            "tasks": tuple(item.model_copy(update=path(item.path)) for item in patch.tasks),
        }
    )
