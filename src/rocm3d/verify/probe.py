"""The Probe type and its registry: each module in probes/ is one check."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Literal

from rocm3d.model.registry import load_modules
from rocm3d.model.verdict import Level, Outcome, Verdict
from rocm3d.verify.backends.environment import Environment
from rocm3d.verify.compilation.compile_options import CompileOptions

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.inventory import Scan
    from rocm3d.model.patch import Patch
    from rocm3d.model.plan import Plan
    from rocm3d.model.task import PortTask
    from rocm3d.verify.resolution.candidates import NextCandidate
    from rocm3d.verify.resolution.resolver import Resolution
    from rocm3d.verify.runs.stored_run import StoredRun
    from rocm3d.workspace.tree import Tree


ResolverName = Literal["uv", "pip"]


@dataclass
class Network:
    """Whether probes may use the network, and with which resolver. `disabled_reason` is empty if they may.

    `resolutions` is a cache that the probes of one verification share.
    """

    disabled_reason: str = "needs the network. Run rocm3d verify . --level resolve"
    resolver: ResolverName = "uv"
    resolutions: dict[object, Resolution] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Case:
    """Everything a probe may consult. `originals` has no entry for a path whose original is not on this machine."""

    plan: Plan
    patch: Patch
    tree: Tree
    originals: Mapping[str, bytes | None]
    current_scan: Scan
    targets: tuple[str, ...]
    knowledge: Knowledge
    network: Network = field(default_factory=Network)
    environment: Environment = field(default_factory=Environment)
    compile_options: CompileOptions = field(default_factory=CompileOptions)
    runs: tuple[StoredRun, ...] = ()
    other_candidate: NextCandidate = lambda _: None


class UncheckedError(Exception):
    """Nothing was checked: the outcome of the only verdict, and the reason."""

    def __init__(self, reason: str, outcome: Outcome = "not_run") -> None:
        super().__init__(reason)
        self.outcome: Outcome = outcome


@dataclass(frozen=True)
class Probe:
    """One check, which returns one verdict, or one for each file or package, or raises UncheckedError."""

    module: str
    level: Level
    check: Callable[[Case], Verdict | Iterable[Verdict]]
    needs_network: bool = False

    @property
    def name(self) -> str:
        """The name in reports: the last part of the module's dotted name."""
        return self.module.rsplit(".", 1)[-1]

    def attempt(self, case: Case) -> tuple[Verdict, ...]:
        """All verdicts of the check."""
        try:
            result = self.check(case)
            return (result,) if isinstance(result, Verdict) else tuple(result)
        except UncheckedError as error:
            return (self.verdict(error.outcome, str(error)),)

    def verdict(  # noqa: PLR0913  (fields of a verdict)
        self,
        outcome: Outcome,
        reason: str = "",
        checked: Iterable[str] = (),
        *,
        subject: str = "",
        target: str = "",
        tasks: Iterable[PortTask] = (),
    ) -> Verdict:
        """A verdict of this probe."""
        return Verdict(
            level=self.level, probe=self.name, outcome=outcome, reason=reason, looked_at=tuple(checked),
            subject=subject, target=target, tasks=tuple(tasks),
        )  # fmt: skip


@cache
def probes() -> tuple[Probe, ...]:
    """Every probe, sorted by name. The modules of the package are listed; there is no table to edit."""
    return tuple(module.probe for module in load_modules("rocm3d.verify.probes"))
