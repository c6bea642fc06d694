"""Code and requirements that belong to a repository and that no rule has seen, with the commands that change it.

Only what could hold source code or requirements counts, by its name: no documentation, pictures, weights or data.
What the user leaves out with `--only` and `--skip` is not listed.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from rocm3d.manifest.git_checkout import GitCheckout, git_checkout
from rocm3d.manifest.manifest import manifest_readers, posix_path
from rocm3d.manifest.submodules import repository_submodules
from rocm3d.model.base import Record
from rocm3d.model.credentials import without_credentials
from rocm3d.model.errors import UserError
from rocm3d.model.inventory import GIT_DEPENDENCY, LFS_POINTER, NOT_CHECKED_OUT, SkippedFile, UnscannedCode
from rocm3d.model.text import one_line
from rocm3d.scan.auxiliary_files import is_auxiliary
from rocm3d.scan.mentions import package_of
from rocm3d.syntax.cuda import CUDA_SUFFIXES
from rocm3d.workspace.code_files import is_code
from rocm3d.workspace.state import PORT_FOLDER

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.manifest.manifest import Mention, ParsedManifest
    from rocm3d.workspace.tree import SkippedKind, Tree

_SCAN_AGAIN = "rocm3d scan ."
_FETCH = "rocm3d port . --gpu GPU --submodules"
_GPU = " --gpu GPU "  # until a plan names it
# They install nothing on the machine of a user, or repeat what another manifest requires.
_WITHOUT_REQUIREMENTS = frozenset({"markdown", "workflow", "notebook", "locks"})
# Names of folders that people link to another disk.
_DATA_FOLDERS = frozenset({
    "assets", "cache", "checkpoint", "checkpoints", "ckpt", "ckpts", "data", "dataset", "datasets", "experiments",
    "figures", "images", "log", "logs", "media", "output", "outputs", "pretrained", "pretrained_models", "results",
    "runs", "videos", "wandb", "weights",
})  # fmt: skip
_DOCUMENTS = re.compile(r"(licen[cs]e|copying|notice|readme|authors|changelog|changes|version)\b", re.IGNORECASE)


class GitDependency(Record):
    """A git repository that a manifest installs, without a record in knowledge/. `revision` may be empty."""

    name: str
    url: str
    revision: str = ""


def may_hold_source(path: str) -> bool:
    """Whether a file of this name has source code or requirements that a rule would see."""
    suffix = posix_path(path).suffix.lower()
    return (
        suffix == ".py"
        or suffix in CUDA_SUFFIXES
        or any(reader.matches(path) for reader in manifest_readers() if is_counted(reader.kind) and not reader.by_name)
    )


def is_counted(kind: str) -> bool:
    """Whether requirements come from this kind of manifest."""
    return kind not in _WITHOUT_REQUIREMENTS


def git_dependencies(unit: ParsedManifest, knowledge: Knowledge) -> Iterator[GitDependency]:
    """Repositories that a plain install fetches with git and that knowledge/ has no record of."""
    if not is_counted(unit.kind) or is_auxiliary(unit.path):
        return
    for mention in unit.mentions:
        section = mention.section.split(":")[0]
        if mention.is_installed and section not in _WITHOUT_REQUIREMENTS and not _has_record(mention, knowledge):
            yield from _git_dependency(mention)


def _has_record(mention: Mention, knowledge: Knowledge) -> bool:
    checkout = git_checkout(mention.url)
    if checkout is not None and knowledge.is_harmless_repository(checkout.url):
        return True
    return package_of(mention, knowledge)[1] is not None or knowledge.package_by_pip(mention.name) is not None


def _git_dependency(mention: Mention) -> Iterator[GitDependency]:
    checkout = git_checkout(mention.url)
    if checkout is not None:
        url, revision = (one_line(without_credentials(text)) for text in (checkout.url, checkout.revision))
        yield GitDependency(name=one_line(checkout.name), url=url, revision=revision)
    elif mention.url.startswith("git+"):
        # A transport or a variable that only pip understands.
        url = one_line(without_credentials(mention.url))
        yield GitDependency(name=one_line(mention.name) or url, url=url)


def unscanned_code(
    tree: Tree, files: Iterable[SkippedFile], dependencies: Iterable[GitDependency]
) -> tuple[UnscannedCode, ...]:
    """Submodules, git dependencies, and then single files, each sorted by name.

    `files` are those that were found but not read or not parsed.
    """
    of_tree = ((path, reason) for path, reason, kind in tree.skip_reasons if _may_be_missing(path, kind))
    unread = {*of_tree, *((item.path, item.reason) for item in files)}
    return (
        *sorted(_submodules(tree), key=lambda item: item.name),
        *sorted(_clones(tree, dependencies), key=lambda item: (item.name, item.where)),
        *(_file(path, reason) for path, reason in sorted(unread)),
    )


def require_source(tree: Tree) -> None:
    """Raises UserError for a folder with neither source code nor a manifest, nor anything that could be one."""
    if tree.has_path(lambda path: may_hold_source(path) or is_code(posixpath.basename(path))):
        return
    if not any(_may_be_missing(path, kind) for path, _, kind in tree.skip_reasons):
        raise UserError(
            f"{tree.root} has neither source code nor a manifest",
            hint="pass the folder of a repository: the one with its sources, setup.py or requirements.txt",
        )


def _may_be_missing(path: str, kind: SkippedKind) -> bool:
    name = posixpath.basename(path)
    if kind == "file":
        return may_hold_source(path)
    if kind == "unknown" and ("." in name or _DOCUMENTS.match(name)):
        return may_hold_source(path)
    return kind != "duplicate" and name.lower() not in _DATA_FOLDERS


def _file(path: str, reason: str) -> UnscannedCode:
    fetch = shlex.join(["git", "lfs", "pull", f"--include={path}"])
    commands = (one_line(fetch), _SCAN_AGAIN) if reason == LFS_POINTER else ()
    return UnscannedCode(name=one_line(path), where=one_line(path), reason=reason, commands=commands)


def _submodules(tree: Tree) -> Iterator[UnscannedCode]:
    paths = tree.paths()
    folders = sorted((item.path for item in repository_submodules(tree)), key=len)
    for folder in folders:
        # A submodule whose files are present without a .git is part of this repository and was scanned with it.
        if not any(path.startswith(f"{folder}/") for path in paths):
            # git knows a submodule of a submodule only in the outer one.
            outermost = next(item for item in folders if folder == item or folder.startswith(f"{item}/"))
            fetch = shlex.join(["git", "submodule", "update", "--init", "--recursive", "--", outermost])
            yield UnscannedCode(
                name=one_line(folder),
                where=".gitmodules",
                reason=NOT_CHECKED_OUT,
                commands=(one_line(fetch), _SCAN_AGAIN),
            )


def _clones(tree: Tree, dependencies: Iterable[GitDependency]) -> Iterator[UnscannedCode]:
    for item in sorted(set(dependencies), key=lambda item: (item.name, item.url, item.revision)):
        if canonicalize_name(item.name) == canonicalize_name(tree.name):
            continue  # the repository itself
        where = f"{item.url}@{item.revision}" if item.revision else item.url
        yield UnscannedCode(name=item.name, where=where, reason=GIT_DEPENDENCY, commands=tuple(_clone_commands(item)))


def _clone_commands(item: GitDependency) -> Iterator[str]:
    """The commands that make the patch of a dependency; install.sh applies it."""
    checkout = GitCheckout(item.url, item.revision)
    if "://" not in item.url or item.url.startswith("git+") or "***" in item.url:
        return
    if checkout.has_commit:
        yield _FETCH
        return
    folder = f"../{checkout.clone_folder}"
    yield shlex.join(["git", "clone", "--recurse-submodules", item.url, folder])
    if item.revision:
        yield shlex.join(["git", "-C", folder, "checkout", item.revision])
    patch = f"{shlex.quote(f'{PORT_FOLDER}/patches/{item.name}@')}$(git -C {shlex.quote(folder)} rev-parse HEAD).patch"
    yield f"{shlex.join(['rocm3d', 'apply', folder, '--gpu', 'GPU', '--dry-run', '--patch'])} {patch}"


def unscanned_in(  # noqa: PLR0913  (all that is known of a place)
    unscanned: Iterable[UnscannedCode],
    root: Path,
    folder: str,
    *,
    is_copy: bool = False,
    fetched: Mapping[str, tuple[UnscannedCode, ...]] = MappingProxyType({}),
    gpu: str = "",
) -> tuple[UnscannedCode, ...]:
    """Without the git dependencies that the port folder has a patch for: somebody scanned those.

    What a scan stores for any place gets the commands for this one, and for the GPU of the plan if there is one. A copy
    for a port has no data of git. `fetched` is what could not be scanned of fetched dependencies, by `URL@commit`.
    """
    patched = {path.name.rpartition("@")[0] for path in (root / folder / "patches").glob("*@*.patch")}
    remaining: list[UnscannedCode] = []
    for item in unscanned:
        if item.reason == GIT_DEPENDENCY and item.where in fetched:
            remaining += (_of_dependency(item, inner) for inner in fetched[item.where])
        elif item.reason != GIT_DEPENDENCY or item.name not in patched:
            remaining.append(item)
    without_git = is_copy and not (root / ".git").exists()
    option = f" --gpu {shlex.quote(gpu)} " if gpu else _GPU
    return tuple(_with_commands(item, folder, option, without_git=without_git) for item in dict.fromkeys(remaining))


def _of_dependency(outer: UnscannedCode, inner: UnscannedCode) -> UnscannedCode:
    """Another git dependency is one of the repository, too; anything else is named with its dependency."""
    if inner.reason == GIT_DEPENDENCY:
        return inner
    return inner.model_copy(update={"name": f"{outer.name}/{inner.name}", "where": outer.where, "commands": ()})


def _with_commands(item: UnscannedCode, folder: str, gpu: str, *, without_git: bool) -> UnscannedCode:
    commands = (_FETCH,) if item.reason == NOT_CHECKED_OUT and without_git else item.commands
    if item.reason == GIT_DEPENDENCY:
        usual, actual = (shlex.quote(f"{name}/patches/{item.name}@") for name in (PORT_FOLDER, folder))
        commands = tuple(line.replace(f" {usual}", f" {actual}") for line in commands)
    return item.model_copy(update={"commands": tuple(line.replace(_GPU, gpu) for line in commands)})
