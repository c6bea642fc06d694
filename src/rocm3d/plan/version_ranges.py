"""Whether version ranges (PEP 440) have a version in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

_LARGE = 99999


def is_satisfiable(ranges: Iterable[str]) -> bool:
    """Whether some version is in all ranges. A text that is not a range excludes nothing.

    Ranges change only at the versions they name, so it tries those and one version above and below each.
    """
    combined = SpecifierSet()
    for text in ranges:
        try:
            combined &= SpecifierSet(text)
        except InvalidSpecifier:
            continue
    boundaries = [Version(item.version.removesuffix(".*")) for item in combined if item.operator != "==="]
    if not boundaries:
        return True
    return any(
        combined.contains(version, prereleases=True) for boundary in boundaries for version in _neighbours(boundary)
    )


def _neighbours(version: Version) -> Iterator[Version]:
    yield version
    release = version.release
    for length in range(1, len(release) + 1):
        head, last = release[: length - 1], release[length - 1]
        yield _version((*head, last + 1))
        if last:
            yield _version((*head, last - 1, _LARGE))
    yield _version((*release, 0, 1))


def _version(release: tuple[int, ...]) -> Version:
    return Version(".".join(str(part) for part in release))
