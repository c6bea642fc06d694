"""Whether version ranges have a version in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FAR = 99999


def agree(ranges: Iterable[str]) -> bool:
    """Whether some version is in all ranges. A text that is not a range excludes nothing.

    Ranges change only at the versions they name, so it tries those and one version above and below each.
    """
    together = SpecifierSet()
    for text in ranges:
        try:
            together &= SpecifierSet(text)
        except InvalidSpecifier:
            continue
    named = [Version(item.version.removesuffix(".*")) for item in together if item.operator != "==="]
    if not named:
        return True
    return any(together.contains(version, prereleases=True) for one in named for version in _around(one))


def _around(version: Version) -> Iterator[Version]:
    yield version
    release = version.release
    for length in range(1, len(release) + 1):
        head, last = release[: length - 1], release[length - 1]
        yield _version((*head, last + 1))
        if last:
            yield _version((*head, last - 1, _FAR))
    yield _version((*release, 0, 1))


def _version(release: tuple[int, ...]) -> Version:
    return Version(".".join(str(part) for part in release))
