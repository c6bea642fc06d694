"""Import hook that loads our modules under the names of CUDA-only packages that do not work."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import Distribution, DistributionFinder
from types import ModuleType
from typing import Any

from rocm3d_kernels.dropin import probe, torch_kind
from rocm3d_kernels.dropin.metadata import StandInDistribution
from rocm3d_kernels.dropin.stand_in import DOCS, StandIn, identity, known
from rocm3d_kernels.told import write_event

SWITCH = "ROCM3D_DROPIN"
EVERY = DistributionFinder.Context()
LOG = logging.getLogger("rocm3d_kernels.dropin")


class NotCovered(ModuleNotFoundError):  # noqa: N818
    """The original package has this module, our drop-in does not."""


class Loader:
    """Loads one module with the public names of ours, and nothing else."""

    def __init__(self, stand_in: StandIn) -> None:
        self.stand_in = stand_in

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:  # noqa: ARG002
        """None: Python's default module object."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Fills the module, logs a warning and records an event."""
        name, stand_in = module.__name__, self.stand_in
        module.__rocm3d__ = identity(stand_in)  # type: ignore[attr-defined]
        source = stand_in.implementing(name)
        if source:
            ours = import_module(source)
            module.__doc__, module.__file__ = ours.__doc__, ours.__file__
            module.__dict__.update({item: getattr(ours, item) for item in ours.__all__})
        else:
            module.__file__ = import_module(f"{__package__}.packages.{stand_in.name}").__file__
        if name == stand_in.name and stand_in.version:
            module.__dict__.setdefault("__version__", stand_in.version)
        module.__getattr__ = lambda missing: _absent(stand_in, name, missing)  # type: ignore[method-assign]
        about = vars(module)
        LOG.warning("%s: using %s instead of the CUDA package", name, about["__rocm3d__"])
        write_event(
            kind="module",
            name=name,
            file=about["__file__"] or "",
            version=str(about.get("__version__") or ""),
            stands_in=str(about["__rocm3d__"]),
        )


def _absent(stand_in: StandIn, module: str, name: str) -> Any:
    home = stand_in.home(name) if module == stand_in.name and vars(sys.modules[module]).get("__path__") else ""
    if home:
        return getattr(import_module(home), name)
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    raise AttributeError(f"{module}.{name} is not covered by rocm3d-kernels, which replaces {module}: see {DOCS}")


class Finder(DistributionFinder):
    """First on sys.meta_path. `force` replaces packages that work, and also with a CUDA torch."""

    def __init__(self, *, force: bool = False, only: Sequence[str] = ()) -> None:
        self.force, self.only = force, tuple(only)
        self.decided: dict[str, tuple[bool, str]] = {}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002
        """Our spec, or None for the original package. Raises for a module that a drop-in does not have."""
        stand_in = known().get(fullname)
        if stand_in is None:
            owner = sys.modules.get(fullname.rpartition(".")[0])
            if owner is not None and "__rocm3d__" in vars(owner) and "." in fullname:
                whole = known().get(fullname.partition(".")[0])
                if path and whole is not None and whole.kept(fullname):
                    return None
                # The error names the top package, not the module: `from package import part` would swallow it.
                text = f"{fullname} is not covered by rocm3d-kernels: see {DOCS}"
                raise NotCovered(text, name=fullname.partition(".")[0])
            return None
        if not self.stands_in(stand_in):
            return None
        spec = ModuleSpec(fullname, Loader(stand_in), origin=stand_in.implementing(fullname), is_package=True)  # type: ignore[arg-type]
        if stand_in.keeps:
            installed = PathFinder.find_spec(fullname, path)
            spec.submodule_search_locations = list((installed and installed.submodule_search_locations) or [])
        return spec

    def stands_in(self, stand_in: StandIn) -> bool:
        """Whether the drop-in replaces this package; decided once per process."""
        if stand_in.name not in self.decided:
            self.decided[stand_in.name] = self._decide(stand_in)
            yes, reason = self.decided[stand_in.name]
            LOG.info("%s: %s (%s)", stand_in.name, "rocm3d-kernels" if yes else "the original package", reason)
        return self.decided[stand_in.name][0]

    def _decide(self, stand_in: StandIn) -> tuple[bool, str]:
        if self.only and stand_in.name not in self.only:
            return False, "not requested"
        if self.force:
            return True, "forced"
        if torch_kind.kind() == "cuda":
            return False, "torch is a CUDA build; --force replaces the package anyway"
        answer = probe.real(stand_in)
        return not answer.works, answer.reason

    def find_distributions(self, context: DistributionFinder.Context = EVERY) -> Iterator[Distribution]:
        """Metadata of drop-ins with a version; without a name, only of those that need no probe."""
        asked = context.name and context.name.lower().replace("-", "_").replace(".", "_")
        for stand_in in {item.name: item for item in known().values()}.values():
            name = (stand_in.distribution or stand_in.name).lower().replace("-", "_")
            if not stand_in.version or (asked and asked != name):
                continue
            if self.stands_in(stand_in) if asked else self._surely_stands_in(stand_in):
                yield StandInDistribution(stand_in)

    def _surely_stands_in(self, stand_in: StandIn) -> bool:
        """Without probing an installed package, since a list of all distributions must not wait for a probe."""
        if stand_in.name not in self.decided and PathFinder.find_spec(stand_in.name.partition(".")[0]) is not None:
            return False
        return self.stands_in(stand_in)


def install(*, force: bool = False, only: Sequence[str] = ()) -> Finder:
    """Adds the finder to sys.meta_path; a second call returns the first finder and changes nothing."""
    for finder in sys.meta_path:
        if isinstance(finder, Finder):
            return finder
    unknown = set(only) - {stand_in.name for stand_in in known().values()}
    if unknown:
        names = ", ".join(sorted({stand_in.name for stand_in in known().values()}))
        raise ValueError(f"rocm3d-kernels has no drop-in for {', '.join(sorted(unknown))}; choose from {names}")
    finder = Finder(force=force, only=only)
    sys.meta_path.insert(0, finder)
    return finder


def switched(value: str | None = None) -> Finder | None:
    """Installs the finder as ROCM3D_DROPIN says: empty or 0 (not at all), 1, force, or package names with commas."""
    value = os.environ.get(SWITCH, "") if value is None else value
    if value in ("", "0"):
        return None
    if value in ("1", "force"):
        return install(force=value == "force")
    names = [name.strip() for name in value.split(",") if name.strip()]
    return install(force="force" in names, only=[name for name in names if name != "force"])
