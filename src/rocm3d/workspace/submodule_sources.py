"""Where the submodules of a checkout come from: the URL that git would fetch, and the recorded commit."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rocm3d.model.errors import UserError
from rocm3d.workspace.isolated_git import IsolatedGit, open_isolated

_GITLINK = "160000"
MAX_DEPTH = 8


@dataclass(frozen=True)
class SubmoduleSource:
    """A submodule. `commit` is the checked-out one, else the recorded one; `url` may be empty if git has none.

    `problem` is the reason why git could not fetch it, such as a relative URL without a remote.
    """

    path: str
    url: str
    commit: str
    is_checked_out: bool = False
    problem: str = ""


def submodule_sources(root: Path) -> tuple[SubmoduleSource, ...]:
    """The submodules of a checkout and of those that are checked out; none for a folder that is no checkout.

    Raises UserError if git refuses to read it.
    """
    if shutil.which("git") is None or not os.path.lexists(root / ".git"):
        return ()
    return tuple(_sources(root, "", "", 0))


def _sources(root: Path, folder: str, base: str, depth: int) -> Iterator[SubmoduleSource]:
    """`base` is the URL of the checkout in `folder`, if its own configuration has none."""
    with open_isolated(root / folder, owner_is_checked=depth > 0) as git:
        if git is None:
            return
        base = git.settings.get("remote.origin.url") or base
        links = _gitlinks(git.output("ls-files", "--stage", "-z"))
        urls = _urls(git, git.work_tree / ".gitmodules", git.settings)
        listed = list(_listed(links, urls, base))
    for item in listed:
        path = f"{folder}/{item.path}" if folder else item.path
        checkout = root / path
        if not os.path.lexists(checkout / ".git") or checkout.resolve() != checkout:
            yield SubmoduleSource(path, item.url, item.commit, problem=item.problem)
            continue
        yield SubmoduleSource(path, item.url, _head(checkout) or item.commit, is_checked_out=True)
        if depth < MAX_DEPTH:
            with contextlib.suppress(UserError):
                yield from _sources(root, path, item.url, depth + 1)


def submodules_of_commit(git: IsolatedGit, commit: str, gitmodules: Path, url: str) -> tuple[SubmoduleSource, ...]:
    """The submodules of a fetched commit, whose repository has this URL."""
    links = _gitlinks(git.output("ls-tree", "-r", "-z", "--full-tree", commit))
    return tuple(_listed(links, _urls(git, gitmodules, {}), url))


def _listed(links: Mapping[str, str], urls: Mapping[str, str], base: str) -> Iterator[SubmoduleSource]:
    for path, commit in links.items():
        try:
            yield SubmoduleSource(path, resolve_url(base, urls[path]), commit)
        except KeyError:
            yield SubmoduleSource(path, "", commit, problem=".gitmodules has no URL for it")
        except ValueError as error:
            yield SubmoduleSource(path, "", commit, problem=str(error))


def resolve_url(base: str, url: str) -> str:
    """The URL as git resolves it: `./` and `../` are relative to the URL of the repository around the submodule.

    Follows relative_url() in git's remote.c. Raises ValueError if that is not possible.
    """
    if not url.startswith(("./", "../")):
        return url
    if not base:
        raise ValueError(f"its URL {url} is relative, and the repository has no remote")
    base = base.removesuffix("/")
    is_relative = not (_is_remote(base) or base.startswith("/"))
    if is_relative and not base.startswith(("./", "../")):
        base = f"./{base}"
    separator = "/"
    while True:
        if url.startswith("../"):
            url = url[3:]
            base, separator = _without_last_folder(base, separator, is_relative=is_relative)
        elif url.startswith("./"):
            url = url[2:]
        else:
            break
    return f"{base}{separator}{url}".removesuffix("/").removeprefix("./")


def _is_remote(url: str) -> bool:
    """Whether it is a URL, or host:path as for ssh; not a path of this machine."""
    colon, slash = url.find(":"), url.find("/")
    return colon >= 0 and not 0 <= slash < colon


def _without_last_folder(base: str, separator: str, *, is_relative: bool) -> tuple[str, str]:
    if "/" in base:
        return base.rpartition("/")[0], separator
    if ":" in base:
        return base.rpartition(":")[0], ":"
    if is_relative or base == ".":
        raise ValueError(f"its URL leads out of the URL of the repository ({base})")
    return ".", separator


def _gitlinks(listing: str) -> dict[str, str]:
    """Commits by path, of `ls-files --stage -z` or `ls-tree -r -z`."""
    links: dict[str, str] = {}
    for entry in listing.split("\0"):
        fields, _, path = entry.partition("\t")
        mode, *rest = fields.split(" ")
        if mode == _GITLINK and path:
            # ls-tree has the type before the object, ls-files the stage after it.
            links.setdefault(path, next(word for word in rest if len(word) >= 40))
    return links


def _urls(git: IsolatedGit, gitmodules: Path, configured: Mapping[str, str | None]) -> dict[str, str]:
    """URLs by path. `git submodule init` copies those of .gitmodules to the configuration, where people change them."""
    if gitmodules.is_symlink() or not gitmodules.is_file():
        return {}
    arguments = ("--no-includes", "-z", "--get-regexp", r"^submodule\..*\.(path|url)$")
    finished = git.run("config", "--file", str(gitmodules), *arguments)
    entries = (entry.partition("\n") for entry in os.fsdecode(finished.stdout).split("\0") if entry)
    values = {key: value for key, _, value in entries}
    names = {value: key.removesuffix(".path") for key, value in values.items() if key.endswith(".path")}
    urls = {path: configured.get(f"{name}.url") or values.get(f"{name}.url") for path, name in names.items()}
    return {path: url for path, url in urls.items() if url}


def _head(checkout: Path) -> str:
    with contextlib.suppress(UserError), open_isolated(checkout, owner_is_checked=True) as git:
        if git is not None:
            finished = git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
            return finished.stdout.decode().strip() if finished.code == 0 else ""
    return ""
