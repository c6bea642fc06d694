"""Reads the state of a git checkout without running any program that the repository configures."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from rocm3d.model.errors import UserError
from rocm3d.workspace.isolated_git import IsolatedGit, open_isolated
from rocm3d.workspace.work_tree import WorkTreeState, refuse_pipes, work_tree_state

_MAX_COMMITTED_BYTES = 16 * 1024 * 1024


def uncommitted_state(root: Path) -> WorkTreeState | None:
    """Changed or untracked paths below `root`, and paths of unknown state; None if git does not track the folder."""
    if shutil.which("git") is None:
        return None
    with open_isolated(root) as git:
        if git is None:
            return None
        refuse_pipes(git)
        if git.prefix and git.run("check-ignore", "-q", ".").code == 0:
            return None
        return work_tree_state(git)


def is_tracked_folder(root: Path) -> bool:
    """Whether the folder lies in a git repository that does not ignore it, so that git can undo changes."""
    if shutil.which("git") is None:
        return False
    with open_isolated(root) as git:
        return git is not None and not (git.prefix and git.run("check-ignore", "-q", ".").code == 0)


def uncommitted_paths(root: Path) -> list[str] | None:
    """All paths of `uncommitted_state`: a path of unknown state counts as changed."""
    state = uncommitted_state(root)
    return None if state is None else [*state.changed, *state.unknown]


def head_commit(root: Path) -> str | None:
    """The current commit of a checkout; None if `root` is not the root of one, or git refuses to read it."""
    with _opened_checkout(root) as git:
        finished = git and git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    return finished.stdout.decode().strip() if finished and finished.code == 0 else None


def origin_url(root: Path) -> str:
    """The configured URL of the remote `origin`; empty if there is none."""
    with _opened_checkout(root) as git:
        url = (git.settings.get("remote.origin.url") or "").strip() if git else ""
    return os.fsencode(url).decode("utf-8", "replace")


def committed_file(root: Path, path: str) -> bytes | None:
    """A file of the current commit, with the line endings of the checkout; None if it is not in the commit.

    No filter runs: of a file with one, these are the bytes in the commit, as a Git LFS pointer. Callers compare them
    with the file, and do not edit it if they differ.
    """
    with _opened_checkout(root) as git:
        finished = git and git.run("cat-file", "--filters", f"HEAD:{path}", keep_bytes=_MAX_COMMITTED_BYTES)
    return finished.stdout if finished and finished.code == 0 and not finished.capped else None


@contextlib.contextmanager
def _opened_checkout(root: Path) -> Iterator[IsolatedGit | None]:
    """None if `root` is not the root of a checkout, or git refuses to read it."""
    with contextlib.ExitStack() as stack:
        git = None
        if shutil.which("git") is not None and (root / ".git").exists():
            with contextlib.suppress(UserError):
                git = stack.enter_context(open_isolated(root))
        yield git
