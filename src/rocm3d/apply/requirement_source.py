"""Where the code of a required package comes from (git, a local folder, an index), and its plan decision."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from packaging.utils import canonicalize_name

from rocm3d.manifest.install_line import distribution_name
from rocm3d.manifest.manifest import Mention
from rocm3d.model.plan import DependencyDecision

# The packages that nothing may replace: no install step, and no dependency of a package.
PROTECTED_PACKAGES = ("torch", "torchvision", "torchaudio", "triton")

# Only transports that fetch; other git transports can run a command.
_GIT = re.compile(r"(?:git\+)?(?P<url>(?:https?|ssh|git|file)://[^\s#]+)(?:#(?P<fragment>\S*))?$")
_SUBDIRECTORY = re.compile(r"(?:^|&)subdirectory=([^&]+)")
_CUDA_VERSION = re.compile(r"[+/_-](?:pt\d+)?cu\d{2,3}\b")


@dataclass(frozen=True)
class GitCheckout:
    """A git repository to clone; `revision` may be empty; `folder` is the subfolder to install."""

    url: str
    revision: str = ""
    folder: str = ""

    @property
    def name(self) -> str:
        """The repository's name; patch files use it."""
        return re.sub(r"[^\w.+-]", "-", distribution_name(self.url)) or "source"

    @property
    def clone_folder(self) -> str:
        """Its folder in the build folder, one for each revision."""
        return f"{self.name}-{re.sub(r'[^A-Za-z0-9._]', '-', self.revision)}" if self.revision else self.name


def parse_git_checkout(address: str) -> GitCheckout | None:
    """The repository of a `git+` URL; None for any other URL and for one with a variable, which only pip can expand."""
    match = _GIT.match(address)
    if match is None or not address.startswith("git+") or "${" in address:
        return None
    scheme, _, path = match["url"].partition("://")
    head, at, revision = path.rpartition("@")
    if not at or "/" not in head:  # an @ before the first slash belongs to the user name
        head, revision = path, ""
    subdirectory = _SUBDIRECTORY.search(match["fragment"] or "")
    folder = posixpath.normpath(unquote(subdirectory.group(1))) if subdirectory else ""
    if revision.startswith("-") or folder.startswith(("..", "/")):
        return None
    return GitCheckout(f"{scheme}://{head}", revision, "" if folder == "." else folder)


def local_path(address: str) -> str | None:
    """The folder that a URL or path names, relative to where the installer runs; None if it is not a folder."""
    path = address.removeprefix("file:") if not address.startswith("file://") else ""
    path = re.sub(r"\[[^\]]*\]$", "", path)
    if (
        not path
        or "://" in path
        or "$" in path
        or path.startswith(("git+", "git@"))
        or path.endswith((".whl", ".tar.gz", ".zip"))
    ):
        return None
    return posixpath.normpath(path)


def is_cuda_build(mention: Mention) -> bool:
    """Whether the version or the URL names a CUDA release, as in `+cu121`."""
    return _CUDA_VERSION.search(f"{mention.version} {unquote(mention.url)}") is not None


def find_decision(mention: Mention, decisions: Mapping[str, DependencyDecision]) -> DependencyDecision | None:
    """The plan's decision about a mention. For a path or URL every part is tried, since the last one can be anything:
    a folder `torch` with bindings for torch is not torch."""
    matching = [decisions[name] for name in _candidate_names(mention) if name in decisions]
    known = [item for item in matching if item.package is not None]
    return next((item for item in known if item.name not in PROTECTED_PACKAGES), None) or next(
        iter(known or matching), None
    )


def _candidate_names(mention: Mention) -> Iterator[str]:
    yield str(canonicalize_name(mention.name))
    if not mention.url or mention.url.endswith(".whl"):
        return
    source, path = parse_git_checkout(mention.url), mention.url.partition("#")[0]
    if source is not None:
        parts = [*reversed(source.folder.split("/")), source.name]
    else:
        parts = [distribution_name(path)] if "://" in path or path.startswith("git@") else [*reversed(path.split("/"))]
    yield from (str(canonicalize_name(part)) for part in parts if part not in ("", ".", ".."))
