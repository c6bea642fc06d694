"""Git repositories that a requirement or an install command names: URL, revision and folder."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from urllib.parse import unquote

from rocm3d.manifest.install_line import distribution_name

# Only transports that fetch; other git transports can run a command.
_GIT = re.compile(r"(?:git\+)?(?P<url>(?:https?|ssh|git|file)://[^\s#]+)(?:#(?P<fragment>\S*))?$")
_SUBDIRECTORY = re.compile(r"(?:^|&)subdirectory=([^&]+)")
_COMMIT = re.compile(r"[0-9a-f]{40}")


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
    def has_commit(self) -> bool:
        """Whether the revision is a full commit id, which no one can move."""
        return _COMMIT.fullmatch(self.revision) is not None

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


def git_checkout(address: str) -> GitCheckout | None:
    """The git repository of a mention's URL. In clone commands of scripts the URL has no `git+` prefix."""
    is_plain_clone_url = address.startswith(("https://", "http://")) and address.partition("#")[0].endswith(".git")
    return parse_git_checkout(f"git+{address}" if is_plain_clone_url else address)
