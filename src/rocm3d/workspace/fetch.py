"""Fetches one commit of a git repository that the user asked for, with the user's own configuration.

Credentials, proxies and `insteadOf` of the user work. What a repository configures never starts: the fetch runs in a
new repository, and files are checked out without any configuration, so without filters (docs/decisions/0023).
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from rocm3d.model.credentials import without_credentials
from rocm3d.model.errors import UserError
from rocm3d.workspace.isolated_git import IsolatedGit, failure_reason
from rocm3d.workspace.process import Finished, run

FETCH_SECONDS = 1800.0
# How a server says that it serves branches and tags only.
_REFUSED_COMMIT = re.compile(rb"unadvertised object|not our ref|find remote ref|did not send all necessary objects")
_NO_REASON = re.compile(r"(warning|hint|from|remote):", re.IGNORECASE)
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_PROTOCOLS = ("https", "ssh", "git")
# Protocols that a user may add with GIT_ALLOW_PROTOCOL or `protocol.<name>.allow`. Others can start any program.
_OPTIONAL_PROTOCOLS = ("file", "http")
_NEVER = ("ext", "fd")
# Of the variables of git those by which a person chooses configuration, credentials and connections. The others name
# repositories, or belong to the git command that started us.
_USER_VARIABLES = re.compile(
    r"GIT_(CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+|PARAMETERS)|EXEC_PATH|ASKPASS|SSH|SSH_COMMAND|"
    r"SSH_VARIANT|PROXY_COMMAND|TRACE\w*|CURL_VERBOSE|(SSL|HTTP)_\w+|TEST_ASSUME_DIFFERENT_OWNER)"
)
_NOTHING_ELSE = (
    "--no-pager",
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false"),
    *("-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "fetch.recurseSubmodules=false"),
    *("-c", "core.protectHFS=true", "-c", "core.protectNTFS=true"),
)
_ISOLATED = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ALLOW_PROTOCOL": ""}


class FetchError(UserError):
    """A commit could not be fetched. The message is the reason alone."""


def fetch_checkout(url: str, commit: str, folder: Path) -> None:
    """Check out a commit in a new folder, whose `.git` has that commit only, where the server allows it.

    Raises FetchError. Nobody has to clean up: the caller removes the folder.
    """
    if _COMMIT.fullmatch(commit) is None:
        raise FetchError("git has recorded no commit for it")
    if not url.isprintable() or not url or url.startswith("-"):
        raise FetchError(f"{url[:200]!r} is not a URL")
    folder.mkdir()
    object_format = ("--object-format=sha256",) if len(commit) == 64 else ()
    new = {**_isolated_environment(folder), "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    _git(folder, _without(new, "GIT_DIR", "GIT_WORK_TREE"), "init", "--quiet", "--template=", *object_format)
    _fetch(folder, _user_environment(folder), url, commit)
    _git(folder, _isolated_environment(folder), "checkout", "--quiet", "--force", "--detach", commit)


def opened_fetch(folder: Path) -> IsolatedGit:
    """The repository that `fetch_checkout` made, to read from."""
    return IsolatedGit(folder, folder, {}, _isolated_environment(folder))


def store_origin(folder: Path, url: str) -> None:
    """Make `git fetch` of the user work in a checkout that stays."""
    environment = _isolated_environment(folder)
    _git(folder, environment, "config", "remote.origin.url", url)
    _git(folder, environment, "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")


def _fetch(folder: Path, environment: dict[str, str], url: str, commit: str) -> None:
    """That commit alone, else all branches and tags: some servers serve no commit by its id."""
    options = (*_NOTHING_ELSE, *_protocol_options(), "fetch", "--quiet", "--no-tags", "--no-recurse-submodules")
    alone = _run(folder, environment, *options, "--depth=1", "--", url, commit)
    if alone.code == 0:
        return
    if _REFUSED_COMMIT.search(alone.stderr) is None:
        raise FetchError(_reason(alone))
    refs = ("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
    everything = _run(folder, environment, *options, "--", url, *refs)
    if everything.code != 0:
        raise FetchError(_reason(everything))
    if _run(folder, environment, "cat-file", "-e", f"{commit}^{{commit}}").code != 0:
        raise FetchError(f"{without_credentials(url)} has no commit {commit[:12]}")


def _reason(finished: Finished) -> str:
    lines = finished.stderr.splitlines(keepends=True)
    first = (number for number, line in enumerate(lines) if not _NO_REASON.match(line.decode("utf-8", "replace")))
    telling = b"".join(lines[next(first, 0) :])
    return without_credentials(failure_reason(replace(finished, stderr=telling)))


def _without(environment: dict[str, str], *names: str) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name not in names}


def _protocol_options() -> list[str]:
    values = {"protocol.allow": "never", **{f"protocol.{name}.allow": "always" for name in _PROTOCOLS}}
    values |= {f"protocol.{name}.allow": "never" for name in _NEVER}
    return [part for key, value in values.items() for part in ("-c", f"{key}={value}")]


def _user_environment(folder: Path) -> dict[str, str]:
    """The user's environment, in which git reads the user's configuration and our repository."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or _USER_VARIABLES.fullmatch(name)
    }
    if (chosen := os.environ.get("GIT_ALLOW_PROTOCOL")) is not None:
        allowed = (name for name in chosen.split(":") if name in (*_PROTOCOLS, *_OPTIONAL_PROTOCOLS))
        variables["GIT_ALLOW_PROTOCOL"] = ":".join(allowed)
    # The URL is one of the repository, not one that the user typed. There is no terminal to ask for a password.
    return {
        **variables,
        "GIT_PROTOCOL_FROM_USER": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_DIR": str(folder / ".git"),
        "LC_ALL": "C",
    }


def _isolated_environment(folder: Path) -> dict[str, str]:
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name == "GIT_EXEC_PATH"
    }
    # For git before 2.32, which does not know GIT_CONFIG_GLOBAL.
    home = str(folder / ".git" / "no-home")
    git_folder, work_tree = str(folder / ".git"), str(folder)
    return {
        **inherited,
        **_ISOLATED,
        "HOME": home,
        "XDG_CONFIG_HOME": home,
        "GIT_DIR": git_folder,
        "GIT_WORK_TREE": work_tree,
        "LC_ALL": "C",
    }


def _git(folder: Path, environment: dict[str, str], *arguments: str) -> None:
    finished = _run(folder, environment, *_NOTHING_ELSE, *arguments)
    if finished.code != 0:
        raise FetchError(_reason(finished))


def _run(folder: Path, environment: dict[str, str], *arguments: str) -> Finished:
    return run(["git", *arguments], cwd=folder, env=environment, seconds=FETCH_SECONDS)
