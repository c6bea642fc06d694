"""Reads from the index for which Python versions each release has wheels, and writes knowledge/wheels.toml. Network.

    python scripts/wheel_ranges.py [NAME ...]

Names are added to those of the file. Ranges with an `index` are kept: they are not read from PyPI.
"""

from __future__ import annotations

import argparse
import re
import sys
import urllib.request
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timezone
from pathlib import Path

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from rocm3d.knowledge.load import load
from rocm3d.model.wheel import WheelRange

TABLE = Path(__file__).resolve().parents[1] / "knowledge" / "wheels.toml"
INDEX = "https://pypi.org/simple"
MINORS = range(10, 15)
"""Minor versions of Python 3 that stacks have or may have: older and newer ones are not told apart."""
HEADER = """\
# For which Python versions releases have wheels on Linux (x86-64). Pins without a wheel decide about the stack.
# Written by scripts/wheel_ranges.py from the file names of the index; only ranges with an `index` are kept by hand.
"""
_LINK = re.compile(r"<a (?P<attributes>[^>]*)>(?P<name>[^<]+)</a>")


def file_names(page: str) -> list[str]:
    """The files of a page of the simple index, without yanked ones."""
    return [match["name"] for match in _LINK.finditer(page) if "data-yanked" not in match["attributes"]]


def wheel_minors(names: Iterable[str]) -> dict[Version, frozenset[int]]:
    """Minor versions of Python for which each release has a wheel; a release with sources alone has none."""
    minors: dict[Version, set[int]] = {}
    for name in names:
        try:
            if name.endswith(".whl"):
                _, version, _, tags = parse_wheel_filename(name)
                of_file = {minor for tag in tags for minor in _minors(tag.interpreter, tag.abi, tag.platform)}
            else:
                version, of_file = parse_sdist_filename(name)[1], set()
        except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
            continue
        minors.setdefault(version, set()).update(of_file)
    released = {version: listed_minors for version, listed_minors in minors.items() if not version.is_prerelease}
    return {version: frozenset(listed_minors) for version, listed_minors in (released or minors).items()}


def _minors(interpreter: str, abi: str, platform: str) -> Iterable[int]:
    is_linux = platform.endswith("_x86_64") and "linux" in platform and "musl" not in platform
    if platform != "any" and not is_linux:
        return ()
    if interpreter == "py3":
        return MINORS
    match = re.fullmatch(r"(cp|py)3(\d+)", interpreter)
    if match is None or re.fullmatch(r"cp3\d+t", abi):
        return ()
    minor = int(match[2])
    is_minimum = abi == "abi3" or match[1] == "py"
    return (item for item in MINORS if item >= minor) if is_minimum else (minor,)


def wheel_ranges(minors: Mapping[Version, frozenset[int]]) -> list[WheelRange]:
    """Neighbouring releases with the same versions of Python, joined; without a gap between two ranges."""
    groups: list[tuple[Version, str]] = []
    for version in sorted(minors):
        python = python_range(minors[version])
        if not groups or groups[-1][1] != python:
            groups.append((version, python))
    bounds = [first for first, _ in groups[1:]]
    return [
        WheelRange(versions=_between(first if number else None, after), python=python)
        for number, ((first, python), after) in enumerate(zip(groups, [*bounds, None], strict=True))
    ]


def python_range(minors: Iterable[int]) -> str:
    """A range of Python versions. Without the lowest or above the highest of MINORS it has no bound on that side."""
    listed = sorted(minor for minor in minors if minor in MINORS)
    if not listed:
        return f"<3.{MINORS[0]}"
    missing = [f"!=3.{minor}.*" for minor in range(listed[0], listed[-1]) if minor not in listed]
    lower = [f">=3.{listed[0]}"] if listed[0] > MINORS[0] else []
    upper = [f"<3.{listed[-1] + 1}"] if listed[-1] < MINORS[-1] else []
    return ",".join([*lower, *upper, *missing]) or ">=3"


def _between(first: Version | None, after: Version | None) -> str:
    return ",".join([*([f">={first}"] if first else []), *([f"<{after}"] if after else [])]) or ">=0"


def record_text(name: str, ranges: Iterable[WheelRange], today: date, sources: Iterable[str] = ()) -> str:
    """One record of the table."""
    rows = [
        f'  {{ versions = "{item.versions}", python = "{item.python}"'
        + (f', index = "{item.index}"' if item.index else "")
        + " },"
        for item in ranges
    ]
    own = f'{{ where = "PyPI simple index, {name}", says = "the names of its files" }}'
    lines = [own, *sources]
    listed = f"[{lines[0]}]" if len(lines) == 1 else "[\n" + "".join(f"  {line},\n" for line in lines) + "]"
    return "\n".join(
        [
            "[[wheels]]",
            f'id = "{canonicalize_name(name)}"',
            f'name = "{canonicalize_name(name)}"',
            "ranges = [",
            *rows,
            "]",
            f"checked = {today}",
            'confidence = "reported"',
            f"sources = {listed}",
            "",
        ]
    )


def fetch(name: str) -> str:
    """The page of a distribution on PyPI."""
    with urllib.request.urlopen(f"{INDEX}/{canonicalize_name(name)}/", timeout=60) as response:  # noqa: S310  (PyPI)
        text: str = response.read().decode()
        return text


def main() -> int:
    """Write the table again."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    known = load().wheels
    today = datetime.now(timezone.utc).date()
    records = []
    for name in sorted({*known, *map(canonicalize_name, options.names)}):
        ranges = wheel_ranges(wheel_minors(file_names(fetch(name))))
        elsewhere = [item for item in known[name].ranges if item.index] if name in known else []
        if elsewhere:
            print(f"{name}: ranges with an index, not changed", file=sys.stderr)
            ranges = list(known[name].ranges)
        sources = [
            f'{{ where = "{item.where}", says = "{item.says}" }}'
            for item in (known[name].sources if name in known else ())
            if not item.where.startswith("PyPI simple index")
        ]
        records.append(record_text(name, ranges, today, sources))
    TABLE.write_text(HEADER + "\n" + "\n".join(records), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
