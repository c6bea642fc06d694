"""Reads the state of a git checkout without running any program that the repository configures."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from rocm3d.model.errors import UserError
from rocm3d.workspace.process import run

# The configuration of a repository can make git start programs; these options disable them.
_SAFE_OPTIONS = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "submodule.recurse=false")


def uncommitted_paths(root: Path) -> list[str] | None:
    """Changed or untracked paths below `root`, relative to it; None if git does not track the folder."""
    if shutil.which("git") is None:
        return None
    code, prefix = _git(root, "rev-parse", "--show-prefix")
    if code != 0 or _git(root, "check-ignore", "-q", ".")[0] == 0:
        return None
    folder = prefix.removesuffix("\n")
    code, status = _git(root, "status", "--porcelain", "-z", "--", ".", env=_without_filters(root))
    if code != 0:
        raise UserError(f"git status failed in {root}", hint="run `git status` there, or use --into DIR")
    return [path.removeprefix(folder) for path in _parse_status(status)]


def head_commit(root: Path) -> str | None:
    """The current commit of a checkout; None if `root` is not the root of one."""
    return _line_from_checkout(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") or None


def origin_url(root: Path) -> str:
    """The configured URL of the remote `origin`; empty if there is none."""
    return _line_from_checkout(root, "config", "--local", "--get", "remote.origin.url")


def _line_from_checkout(root: Path, *arguments: str) -> str:
    """The output of git in the root of a checkout; empty if it is none or git fails."""
    if shutil.which("git") is None or not (root / ".git").exists():
        return ""
    code, line = _git(root, *arguments)
    return line.strip() if code == 0 else ""


def committed_file(root: Path, path: str) -> bytes | None:
    """A file of the current commit, with the line endings of the checkout; None if it is not in the commit."""
    finished = run(
        ["git", *_SAFE_OPTIONS, "-C", str(root), "cat-file", "--filters", f"HEAD:{path}"],
        env=_without_filters(root),
        keep_bytes=16 * 1024 * 1024,
    )
    return finished.stdout if finished.code == 0 and not finished.capped else None


def _without_filters(root: Path) -> dict[str, str]:
    """An environment that disables filters from the repository's configuration: `git status` would run them."""
    pattern = r"^filter\..*\.(clean|process|smudge|required)$"
    names = _git(root, "config", "--local", "--includes", "-z", "--name-only", "--get-regexp", pattern)[1].split("\0")
    keys = [name for name in names if name]
    settings = {f"GIT_CONFIG_KEY_{n}": key for n, key in enumerate(keys)}
    settings |= {f"GIT_CONFIG_VALUE_{n}": "" for n in range(len(keys))}
    return {**os.environ, **settings, "GIT_CONFIG_COUNT": str(len(keys))}


def _parse_status(status: str) -> list[str]:
    """Paths from `git status --porcelain -z`. After a rename the old name follows as a separate entry."""
    entries, paths = iter(status.split("\0")), []
    for entry in entries:
        if entry:
            paths.append(entry[3:])
            if set(entry[:2]) & {"R", "C"}:
                paths.append(next(entries, ""))
    return paths


def _git(root: Path, *arguments: str, env: dict[str, str] | None = None) -> tuple[int | None, str]:
    finished = run(["git", *_SAFE_OPTIONS, "-C", str(root), *arguments], env=env, keep_bytes=16 * 1024 * 1024)
    return finished.code, finished.stdout.decode("utf-8", "replace")
