"""What the repository requires of the Python and the torch of its stack, and what its own environment has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packaging.markers import UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion

from rocm3d.model.finding import Location
from rocm3d.model.inventory import Dependency, Inventory, PythonVersions
from rocm3d.model.stack import Stack
from rocm3d.model.wheel import WheelRange, WheelRecord
from rocm3d.plan.version_ranges import is_satisfiable

# The files that an install of the repository reads, most decisive first: of a name only the first file counts.
_FILES = ("requirements.txt", "pyproject.toml", "setup.py", "setup.cfg", "Pipfile")
_MAX_LISTED = 5


@dataclass(frozen=True)
class Entry:
    """One requirement of a plain install, and its place."""

    requirement: Requirement
    location: Location

    @property
    def text(self) -> str:
        """`numpy==1.24.4`, without extras and conditions."""
        return f"{self.requirement.name}{self.requirement.specifier}"

    @property
    def is_pin(self) -> bool:
        """Whether it accepts releases of one series alone, as `==2.1.0` and `~=2.1.0` do."""
        return any(
            item.operator in ("==", "===") or (item.operator == "~=" and item.version.count(".") > 1)
            for item in self.requirement.specifier
        )

    def applies(self, python: str) -> bool:
        """Whether its condition holds for CPython on Linux; a condition that compares nonsense excludes nothing."""
        marker = self.requirement.marker
        try:
            return marker is None or marker.evaluate(_environment(python))
        except (UndefinedComparison, UndefinedEnvironmentName, InvalidVersion):
            return True


@dataclass(frozen=True)
class RepositoryBounds:
    """`entries` are the requirements of a plain install, by distribution."""

    pythons: tuple[PythonVersions, ...] = ()
    entries: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, inventory: Inventory) -> RepositoryBounds:
        return cls(inventory.pythons, _entries(inventory.dependencies))

    def unmet(self, stack: Stack, retained: Iterable[str], wheels: Mapping[str, WheelRecord]) -> tuple[str, ...]:
        """What an install on the stack would fail on. `retained` are the distributions that no route replaces."""
        return (
            *(
                f"Python {_python_text(item.specifier)} is required ({_place(item.location)})"
                for item in self.pythons
                if item.required and not _has_python(item.specifier, stack.python)
            ),
            *(
                f"{entry.text} is required ({_place(entry.location)})"
                for entry in self._entries_of("torch", stack.python)
                if not entry.is_pin and not entry.requirement.specifier.contains(stack.torch, prereleases=True)
            ),
            *self._pins_without_wheel(stack.python, retained, wheels),
        )

    def unlike(self, stack: Stack) -> tuple[str, ...]:
        """How the stack differs from the environments that the repository describes."""
        stated = [item for item in self.pythons if not item.required]
        pins = [entry for entry in self._entries_of("torch", stack.python) if entry.is_pin]
        series = f"=={'.'.join(stack.torch.split('.')[:2])}.*"
        has_python = any(_has_python(item.specifier, stack.python) for item in stated)
        has_torch = any(is_satisfiable((str(entry.requirement.specifier), series)) for entry in pins)
        return (
            *(
                f"Python {_python_text(item.specifier)} ({_place(item.location)})"
                for item in stated[:1]
                if not has_python
            ),
            *(f"{entry.text} ({_place(entry.location)})" for entry in pins[:1] if not has_torch),
        )

    def elsewhere(self, name: str, python: str, wheels: Mapping[str, WheelRecord]) -> WheelRange | None:
        """The range whose index alone has the releases that the repository pins; None if PyPI has them."""
        record, entries = wheels.get(name), self._entries_of(name, python)
        if record is None or not entries:
            return None
        specifiers = [str(entry.requirement.specifier) for entry in entries]
        fitting = [item for item in record.ranges if is_satisfiable((*specifiers, item.versions))]
        if not fitting or any(not item.index for item in fitting):
            return None
        return next((item for item in fitting if _has_python(item.python, python)), None)

    def _pins_without_wheel(
        self, python: str, retained: Iterable[str], wheels: Mapping[str, WheelRecord]
    ) -> Iterator[str]:
        missing = dict.fromkeys(
            entry.text
            for name in sorted(set(retained) & wheels.keys())
            for entry in self._entries_of(name, python)
            if not _has_wheel(entry, python, wheels[name].ranges)
        )
        if missing:
            listed, more = list(missing)[:_MAX_LISTED], len(missing) - _MAX_LISTED
            yield f"no wheel for Python {python}: {', '.join(listed)}{f' and {more} more' if more > 0 else ''}"

    def _entries_of(self, name: str, python: str) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries.get(name, ()) if entry.applies(python))


def _entries(dependencies: Iterable[Dependency]) -> dict[str, tuple[Entry, ...]]:
    """Of each name the entries of the first file that an install would read."""
    by_name: dict[str, dict[str, list[Entry]]] = {}
    for item in dependencies:
        if item.optional or not _is_installed_from(item.location.path):
            continue
        try:
            requirement = Requirement(item.requirement)
        except InvalidRequirement:
            continue
        if not requirement.url:
            name = str(canonicalize_name(requirement.name))
            by_name.setdefault(name, {}).setdefault(item.location.path, []).append(Entry(requirement, item.location))
    return {name: tuple(files[min(files, key=_file_order)]) for name, files in by_name.items()}


def _is_installed_from(path: str) -> bool:
    """Not from a deeper folder, which may be another program, a lock file, or one of several requirements files."""
    return "/" not in path and (path in _FILES or not path.endswith((".txt", ".in", ".lock")))


def _file_order(path: str) -> tuple[int, str]:
    return (_FILES.index(path) if path in _FILES else len(_FILES)), path


def _has_wheel(entry: Entry, python: str, ranges: Sequence[WheelRange]) -> bool:
    """Also true if the table does not know the releases."""
    specifier = str(entry.requirement.specifier)
    fitting = [item for item in ranges if is_satisfiable((specifier, item.versions))]
    return not fitting or any(_has_python(item.python, python) for item in fitting)


def _has_python(specifier: str, python: str) -> bool:
    """Whether some patch release of the stack's Python is in the range."""
    return is_satisfiable((specifier, f"=={python}.*"))


def _python_text(specifier: str) -> str:
    """`3.10` for a range that is one minor version."""
    is_series = specifier.startswith("==") and specifier.endswith(".*") and "," not in specifier
    return specifier.removeprefix("==").removesuffix(".*") if is_series else specifier


def _place(location: Location) -> str:
    return f"{location.path}:{location.line}"


def _environment(python: str) -> dict[str, str]:
    """Every variable of a condition, so that none depends on the machine that plans."""
    return {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "implementation_name": "cpython",
        "implementation_version": f"{python}.0",
        "platform_release": "",
        "platform_version": "",
        "platform_python_implementation": "CPython",
        "sys_platform": "linux",
        "platform_system": "Linux",
        "platform_machine": "x86_64",
        "os_name": "posix",
        "extra": "",
    }
