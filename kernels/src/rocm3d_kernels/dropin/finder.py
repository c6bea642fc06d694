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

from rocm3d_kernels.backoff import ExponentialBackoff
from rocm3d_kernels.dropin import probe, torch_kind
from rocm3d_kernels.dropin.declaration import DOCS, DropIn, all_drop_ins, identity
from rocm3d_kernels.dropin.metadata import DropInDistribution
from rocm3d_kernels.events import write_event

SWITCH = "ROCM3D_DROPIN"
ALL_DISTRIBUTIONS = DistributionFinder.Context()
# The first probe after a failure of the moment skips three queries: a probe takes seconds, up to its time limit.
FIRST_BACKOFF = 2
LOG = logging.getLogger("rocm3d_kernels.dropin")


class NotCoveredError(ModuleNotFoundError):
    """The original package has this module, our drop-in does not."""


class DropInLoader:
    """Loads one module with the public names of ours, and nothing else."""

    def __init__(self, drop_in: DropIn) -> None:
        self.drop_in = drop_in

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:  # noqa: ARG002
        """None: Python's default module object."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Fills the module, logs a warning and records an event."""
        name, drop_in = module.__name__, self.drop_in
        module.__rocm3d__ = identity(drop_in)  # type: ignore[attr-defined]
        source = drop_in.implementation_of(name)
        if source:
            ours = import_module(source)
            module.__doc__, module.__file__ = ours.__doc__, ours.__file__
            module.__dict__.update({item: getattr(ours, item) for item in ours.__all__})
        else:
            module.__file__ = import_module(f"{__package__}.packages.{drop_in.name}").__file__
        if name == drop_in.name and drop_in.version:
            module.__dict__.setdefault("__version__", drop_in.version)
        module.__getattr__ = lambda missing: _missing_attribute(drop_in, name, missing)  # type: ignore[method-assign]
        attributes = vars(module)
        LOG.warning("%s: using %s instead of the CUDA package", name, attributes["__rocm3d__"])
        write_event(
            kind="module",
            name=name,
            file=attributes["__file__"] or "",
            version=str(attributes.get("__version__") or ""),
            stands_in=str(attributes["__rocm3d__"]),
        )


def _missing_attribute(drop_in: DropIn, module: str, name: str) -> Any:
    home = (
        drop_in.original_module_of(name) if module == drop_in.name and vars(sys.modules[module]).get("__path__") else ""
    )
    if home:
        return getattr(import_module(home), name)
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    raise AttributeError(f"{module}.{name} is not covered by rocm3d-kernels, which replaces {module}: see {DOCS}")


class DropInFinder(DistributionFinder):
    """First on sys.meta_path. `force` replaces packages that work, and also with a CUDA torch."""

    def __init__(self, *, force: bool = False, only: Sequence[str] = ()) -> None:
        self.force, self.only = force, tuple(only)
        self.decisions: dict[str, tuple[bool, str]] = {}
        # Of packages whose probe failed for a moment; their decision is open until one of our modules is loaded.
        self.backoffs: dict[str, ExponentialBackoff] = {}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002
        """Our spec, or None for the original package. Raises for a module that a drop-in does not have."""
        drop_in = all_drop_ins().get(fullname)
        if drop_in is None:
            owner = sys.modules.get(fullname.rpartition(".")[0])
            if owner is not None and "__rocm3d__" in vars(owner) and "." in fullname:
                package = all_drop_ins().get(fullname.partition(".")[0])
                if path and package is not None and package.is_original_module(fullname):
                    return None
                # The error names the top package, not the module: `from package import part` would swallow it.
                text = f"{fullname} is not covered by rocm3d-kernels: see {DOCS}"
                raise NotCoveredError(text, name=fullname.partition(".")[0])
            return None
        if not self.replaces(drop_in):
            return None
        spec = ModuleSpec(fullname, DropInLoader(drop_in), origin=drop_in.implementation_of(fullname), is_package=True)  # type: ignore[arg-type]
        if drop_in.original_modules:
            installed = PathFinder.find_spec(fullname, path)
            spec.submodule_search_locations = list((installed and installed.submodule_search_locations) or [])
        return spec

    def replaces(self, drop_in: DropIn) -> bool:
        """Whether the drop-in replaces this package; decided once per process, unless the probe failed for a moment."""
        name = drop_in.name
        if name not in self.decisions or self._should_probe_again(drop_in):
            self.decisions[name] = self._decide(drop_in)
            is_replaced, reason = self.decisions[name]
            LOG.info("%s: %s (%s)", name, "rocm3d-kernels" if is_replaced else "the original package", reason)
        return self.decisions[name][0]

    def _should_probe_again(self, drop_in: DropIn) -> bool:
        backoff = self.backoffs.get(drop_in.name)
        # Modules of ours and of the original must not mix in one package.
        loaded = [sys.modules.get(one) for one in drop_in.modules]
        is_loaded = any(isinstance(one, ModuleType) and "__rocm3d__" in vars(one) for one in loaded)
        return backoff is not None and not is_loaded and backoff.should_try()

    def _decide(self, drop_in: DropIn) -> tuple[bool, str]:
        if self.only and drop_in.name not in self.only:
            return False, "not requested"
        if self.force:
            return True, "forced"
        if torch_kind.kind() == "cuda":
            return False, "torch is a CUDA build; --force replaces the package anyway"
        result = probe.probe_original(drop_in)
        if result.transient:
            self.backoffs.setdefault(drop_in.name, ExponentialBackoff(failures=FIRST_BACKOFF)).fail()
        else:
            self.backoffs.pop(drop_in.name, None)
        return not result.works, result.reason

    def find_distributions(self, context: DistributionFinder.Context = ALL_DISTRIBUTIONS) -> Iterator[Distribution]:
        """Metadata of drop-ins with a version; without a name, only of those that need no probe."""
        requested = context.name and context.name.lower().replace("-", "_").replace(".", "_")
        for drop_in in {entry.name: entry for entry in all_drop_ins().values()}.values():
            name = (drop_in.distribution or drop_in.name).lower().replace("-", "_")
            if not drop_in.version or (requested and requested != name):
                continue
            if self.replaces(drop_in) if requested else self._replaces_without_probe(drop_in):
                yield DropInDistribution(drop_in)

    def _replaces_without_probe(self, drop_in: DropIn) -> bool:
        """Without probing an installed package, since a list of all distributions must not wait for a probe."""
        if drop_in.name not in self.decisions and PathFinder.find_spec(drop_in.name.partition(".")[0]) is not None:
            return False
        return self.replaces(drop_in)


def install(*, force: bool = False, only: Sequence[str] = ()) -> DropInFinder:
    """Adds the finder to sys.meta_path; a second call returns the first finder and changes nothing."""
    for finder in sys.meta_path:
        if isinstance(finder, DropInFinder):
            return finder
    unknown = set(only) - {drop_in.name for drop_in in all_drop_ins().values()}
    if unknown:
        names = ", ".join(sorted({drop_in.name for drop_in in all_drop_ins().values()}))
        raise ValueError(f"rocm3d-kernels has no drop-in for {', '.join(sorted(unknown))}; choose from {names}")
    finder = DropInFinder(force=force, only=only)
    sys.meta_path.insert(0, finder)
    return finder


def install_from_environment(value: str | None = None) -> DropInFinder | None:
    """Installs the finder as ROCM3D_DROPIN says: empty or 0 (not at all), 1, force, or package names with commas."""
    value = os.environ.get(SWITCH, "") if value is None else value
    if value in ("", "0"):
        return None
    if value in ("1", "force"):
        return install(force=value == "force")
    names = [name.strip() for name in value.split(",") if name.strip()]
    return install(force="force" in names, only=[name for name in names if name != "force"])
