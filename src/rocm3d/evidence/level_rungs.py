"""The rungs that verdicts decide: resolved, compiled, imported, ran and judged.

A rung is complete if every check of its levels passed. A check that was not run leaves it open, and so does a level
without a verdict. A skipped check does not count; what a stub or substitute shows never counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rocm3d.evidence.check_items import CheckItem, check_items, run_items
from rocm3d.model.evidence import SealedRun
from rocm3d.model.inventory import Scan
from rocm3d.model.plan import Plan
from rocm3d.model.port_state import Rung, RungName
from rocm3d.model.verdict import HOST, NO_BACKEND_CHECK, Level, Verdict, Verdicts

RECORD_RUN, REPORT = "rocm3d run -- CMD ...", "rocm3d report . --format markdown"
_KERNEL_PROBE, _RUN_PROBE = "match_kernels", "judge_runs"
# What the original requirements would install: it shows nothing about the port.
_INFORMATIVE_PROBE = "resolve_original"
_PREPARE = "rocm3d toolchain prepare"
_VERIFY, _WITH_PYTHON = "rocm3d verify . --level ", " --python PYTHON"
_MAX_REASONS = 3


@dataclass(frozen=True)
class LevelRungs:
    """`verdicts` are those of the files now; `runs` are those that are stored with the port."""

    verdicts: Sequence[Verdict]
    targets: tuple[str, ...]
    scan: Scan | None
    plan: Plan | None
    runs: tuple[SealedRun, ...] = ()
    record_run: str = RECORD_RUN

    @classmethod
    def of(
        cls, document: Verdicts | None, scan: Scan | None, plan: Plan | None, runs: tuple[SealedRun, ...], command: str
    ) -> LevelRungs:
        """From the document of verify, which may not exist."""
        verdicts = () if document is None else document.verdicts
        return cls(verdicts, () if document is None else document.targets, scan, plan, runs, command)

    @property
    def resolved(self) -> Rung:
        checks = self._checks("resolve", lambda item: item.probe != _INFORMATIVE_PROBE)
        return _rung("resolved", {"resolve": checks}, (), f"{_VERIFY}resolve")

    @property
    def compiled(self) -> Rung:
        """It does not apply only if everything was scanned, and neither scan nor compiler found native code.

        Kernels are compared with those of the CUDA build: that needs nvcc, and counts only if they differ.
        """
        checks = self._checks("compile", lambda item: item.probe != _KERNEL_PROBE or item.outcome == "failed")
        if any(item.target for item in checks):
            # Units are counted; build scripts only if they failed.
            checks = [item for item in checks if item.target or item.outcome != "passed"]
        checks += self._without_planned_target(checks)
        needs_toolchain = any(item.outcome == "not_run" and _PREPARE in item.reason for item in checks)
        command = _PREPARE if needs_toolchain else f"{_VERIFY}compile"
        rung = _rung("compiled", {"compile": checks}, (), command)
        if rung.outcome != "not_applicable":
            return rung
        if self.scan is None or self.scan.inventory.extensions:
            return Rung(name="compiled", outcome="not_run", reason=rung.reason, next=command)
        if self.scan.inventory.unscanned:
            reason = "what was not scanned may have native code"
            return Rung(name="compiled", outcome="not_run", reason=reason, next=command)
        return rung

    @property
    def imported(self) -> Rung:
        return _rung("imported", {"import": self._checks("import")}, (), f"{_VERIFY}import{_WITH_PYTHON}")

    @property
    def ran(self) -> Rung:
        """The operations of the packages and a recorded workload ran on the GPU of the plan."""
        checks = {
            "backend": self._on_planned_gpu(self._checks("backend")),
            "workload": self._checks("workload", lambda item: item.probe == _RUN_PROBE),
        }
        runs = run_items(self.runs, checks["workload"])
        outcomes = {item.outcome for item in (*check_items(checks["workload"]), *runs)}
        command = self.record_run if outcomes != {"passed"} else f"{_VERIFY}backend{_WITH_PYTHON}"
        if any(item.is_unverified for item in runs):
            command = f"{_VERIFY}workload"
        return _rung("ran", checks, runs, command)

    @property
    def evaluated(self) -> Rung:
        """The results agree with references, and runs met their expectations and wrote valid artifacts."""
        results = self._checks("workload", lambda item: item.probe != _RUN_PROBE)
        checks = {
            "numerics": self._on_planned_gpu(self._checks("numerics")),
            "workload": [*results, *self._without_result(results)],
        }
        runs = [replace(item, outcome="not_run") for item in run_items(self.runs, checks["workload"])]
        outcomes = {item.outcome for item in (*check_items(checks["workload"]), *runs)}
        command = self.record_run if outcomes != {"passed"} else f"{_VERIFY}numerics{_WITH_PYTHON}"
        if any(item.is_unverified for item in runs):
            command = f"{_VERIFY}workload"
        return _rung("judged", checks, runs, command)

    def _without_result(self, results: Sequence[Verdict]) -> Iterator[Verdict]:
        """Runs that show no result, because they did not finish or used another GPU; or that there is no run."""
        subjects = {item.subject for item in results}
        for item in self._checks("workload", lambda item: item.probe == _RUN_PROBE):
            if item.outcome in ("failed", "not_run") and item.subject not in subjects:
                yield item.model_copy(update={"outcome": "not_run", "looked_at": ()})

    def _checks(self, level: Level, counts: Callable[[Verdict], bool] = lambda _: True) -> list[Verdict]:
        """The verdicts of a level, without what stubs and substitutes passed."""
        stubs = {name for item in (self.plan.stubs if self.plan else ()) for name in (item.name, item.package)}
        return [
            item
            for item in self.verdicts
            if item.level == level and counts(item) and (item.outcome != "passed" or item.subject not in stubs)
        ]

    def _on_planned_gpu(self, verdicts: Sequence[Verdict]) -> list[Verdict]:
        """Without results of other GPUs; if there are no others, these were not run on the GPU of the plan."""
        gfx = self.plan.gpu.gfx if self.plan else ""
        suitable = [item for item in verdicts if item.target in ("", gfx)]
        if suitable or not gfx:
            return suitable
        return [
            item.model_copy(
                update={"outcome": "not_run", "reason": f"ran on {item.target}; the plan is for {gfx}", "looked_at": ()}
            )
            for item in verdicts
        ]

    def _without_planned_target(self, verdicts: Sequence[Verdict]) -> Iterator[Verdict]:
        """A verdict that is not run for each subject that was compiled, but not for the GPU of the plan."""
        gfx = self.plan.gpu.gfx if self.plan else ""
        results = [item for item in verdicts if item.outcome in ("passed", "failed")]
        by_subject: dict[str, set[str]] = {}
        for item in results:
            by_subject.setdefault(item.subject, set()).update({item.target} - {"", HOST})
        if not any(by_subject.values()):
            by_subject = {"": set(self.targets)} if results else {}
        for subject, targets in sorted(by_subject.items()):
            if gfx and targets and gfx not in targets:
                reason = f"not compiled for {gfx}, only for {', '.join(sorted(targets))}"
                yield Verdict(
                    level="compile", probe="any", outcome="not_run", reason=reason, subject=subject, target=gfx
                )


def join_reasons(reasons: Iterable[str]) -> str:
    """The first distinct reasons, and how many more there are."""
    distinct = list(dict.fromkeys(reasons))
    more = f"; and {len(distinct) - _MAX_REASONS} more" if len(distinct) > _MAX_REASONS else ""
    return "; ".join(distinct[:_MAX_REASONS]) + more


def _rung(name: RungName, checks: dict[str, list[Verdict]], runs: Sequence[CheckItem], command: str) -> Rung:
    """From the verdicts by level. `runs` are further items of level workload."""
    verdicts = [item for of_level in checks.values() for item in of_level]
    items = [*check_items(item for item in verdicts if not item.reason.startswith(NO_BACKEND_CHECK)), *runs]
    unchecked = [level for level, of_level in checks.items() if not of_level]
    if verdicts:
        reasons = [f"level {level} not checked yet" for level in unchecked]
        items += [CheckItem(reason, "not_run", reason) for reason in reasons]
    if not items:
        return _without_items(name, verdicts, command)
    open_items = sorted(item for item in items if item.outcome != "passed")
    done, failed = len(items) - len(open_items), [item for item in open_items if item.outcome == "failed"]
    if not open_items:
        return Rung(name=name, outcome="complete", done=done, total=done)
    reason = join_reasons(sorted(item.reason for item in failed or open_items))
    return Rung(
        name=name,
        outcome="failed" if failed else "partial" if done else "not_run",
        done=done,
        total=len(items),
        open_items=tuple(item.label for item in open_items if item.name != item.reason),
        reason=reason,
        next=REPORT if failed else command,
    )


def _without_items(name: RungName, verdicts: Sequence[Verdict], command: str) -> Rung:
    """Not applicable only if a check found that there is nothing to check."""
    skipped = sorted(item.reason for item in verdicts if item.outcome == "skipped")
    if skipped:
        return Rung(name=name, outcome="not_applicable", reason=join_reasons(skipped))
    reason = join_reasons(sorted(item.reason for item in verdicts)) or "not checked yet"
    return Rung(name=name, outcome="not_run", reason=reason, next=command)
