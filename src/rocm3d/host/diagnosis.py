"""Evaluates every host record on a snapshot: problems, passed conditions, and those that could not be checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from rocm3d.host.facts import Facts, NotKnownError, Reading, gib
from rocm3d.host.predicates import predicates
from rocm3d.model.condition import Condition, Diagnosis, PlanRelevance, Problem, UncheckedCondition

if TYPE_CHECKING:
    from packaging.version import Version

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.plan import Plan
    from rocm3d.model.snapshot import GraphicsCard, Snapshot

_ORDER = ("error", "warning", "note")


def diagnose(snapshot: Snapshot, knowledge: Knowledge, plan: Plan | None = None) -> Diagnosis:
    """Problems of a machine, in general or for a plan."""
    problems: list[Problem] = []
    unread: list[UncheckedCondition] = []
    fine: list[str] = []
    elsewhere: list[str] = []
    facts = Facts(snapshot, knowledge, plan)
    for condition in knowledge.host.values() if snapshot.has_gpu else ():
        try:
            if not _applies(condition, facts):
                elsewhere.append(condition.id)
                continue
            reading = predicates()[condition.test](facts, condition)
        except NotKnownError as unknown:
            unread.append(UncheckedCondition(id=condition.id, title=condition.title, reason=str(unknown)))
            continue
        if reading is None:
            fine.append(condition.id)
        else:
            problems.append(_problem(condition, reading, facts))
    return Diagnosis(
        machine=_machine(snapshot),
        taken=snapshot.taken,
        gpus=tuple(_gpu(card, knowledge) for card in snapshot.gpus) or _behind(snapshot),
        plan=f"{plan.repository} on {plan.gpu.title} ({plan.gpu.gfx})" if plan else "",
        problems=tuple(sorted(problems, key=lambda item: (_ORDER.index(item.severity), not item.for_plan, item.id))),
        unread=tuple(unread),
        fine=tuple(fine),
        elsewhere=tuple(elsewhere),
        lacks="" if snapshot.has_gpu else _lacks(snapshot),
        knowledge_date=str(knowledge.date),
    )


def _applies(condition: Condition, facts: Facts) -> bool:
    """Whether a condition is about this kind of machine. Raises NotKnownError if it depends on an unknown release."""
    snapshot, targets = facts.snapshot, [facts.knowledge.targets.get(gfx) for gfx in facts.targets]
    kinds = {target.architecture for target in targets if target}
    discrete = [card for card in snapshot.gpus if not card.integrated and card.kfd]
    fits = (
        facts.platform in condition.platforms
        and condition.container in (None, bool(snapshot.container))
        and len(discrete) >= condition.gpus
        and (facts.plan is not None or not condition.needs_plan)
        and (not condition.gfx or bool(set(condition.gfx) & set(facts.targets)))
        and (not condition.architectures or not kinds.isdisjoint(condition.architectures))
    )
    return fits and _within(condition.rocm, facts.rocm, "ROCm") and _within(condition.torch, facts.torch, "torch")


def _within(given: str, here: Version | None, what: str) -> bool:
    if not given:
        return True
    if here is None:
        raise NotKnownError(f"depends on the {what} release, and no {what} was found")
    return here in SpecifierSet(given, prereleases=True)


def _problem(condition: Condition, reading: Reading, facts: Facts) -> Problem:
    entry = next((item for item in condition.for_plan if _meant(item, facts)), None)
    return Problem(
        id=condition.id,
        title=condition.title,
        severity=(entry.severity if entry else None) or condition.severity,
        read=reading.seen,
        why=condition.why,
        for_plan=entry.says if entry else "",
        remedy=tuple(_filled(line, reading) for line in condition.remedy),
        root=condition.root,
        reboot=condition.reboot,
        check=_filled(condition.check, reading),
        checked=condition.checked,
        confidence=condition.confidence,
        sources=condition.sources,
    )


def _meant(entry: PlanRelevance, facts: Facts) -> bool:
    """Whether an entry applies to the plan: every key that it has must match."""
    if facts.plan is None:
        return False
    packages = {item.package for item in facts.decisions if item.package}
    families = {facts.knowledge.packages[name].family for name in packages if name in facts.knowledge.packages}
    base = facts.plan.base
    return (
        (not entry.packages or not packages.isdisjoint(entry.packages))
        and (not entry.families or not families.isdisjoint(entry.families))
        and (not entry.gfx or facts.plan.gpu.gfx in entry.gfx)
        and (not entry.builds or bool(facts.builds))
        and (not entry.rocm or (base is not None and base.rocm in SpecifierSet(entry.rocm, prereleases=True)))
    )


def _filled(line: str, reading: Reading) -> str:
    """Not format(): values come from the machine and may contain braces."""
    for name, value in reading.values.items():
        line = line.replace(f"{{{name}}}", value)
    return line


def _machine(snapshot: Snapshot) -> str:
    parts = [snapshot.system or "unknown system", f"Linux {snapshot.kernel}" if snapshot.kernel else "unknown kernel"]
    parts += [f"WSL {snapshot.wsl}"] if snapshot.wsl else []
    parts += [f"in {snapshot.container}"] if snapshot.container else []
    parts += [snapshot.processor.model] if snapshot.processor.model else []
    parts += [gib(snapshot.processor.memory_bytes)] if snapshot.processor.memory_bytes else []
    return ", ".join(parts)


def _gpu(card: GraphicsCard, knowledge: Knowledge) -> str:
    target = knowledge.targets.get(card.gfx)
    parts = [f"{card.gfx or 'unknown gfx'} at {card.pci}"]
    parts += [target.title] if target else []
    parts += [gib(card.vram_bytes)] if card.vram_bytes else []
    parts += ["integrated GPU"] if card.integrated else []
    parts += [f"{card.width} lanes"] if card.width and not card.integrated else []
    parts += [f"ROCR index {card.rocr_index}"] if card.kfd else ["not known to the compute driver"]
    return ", ".join(parts)


def _behind(snapshot: Snapshot) -> tuple[str, ...]:
    behind = snapshot.device("/dev/dxg") is not None and not snapshot.nvidia
    return ("a GPU behind /dev/dxg (model unknown inside WSL)",) if behind else ()


def _lacks(snapshot: Snapshot) -> str:
    other = "; there is an NVIDIA GPU" if snapshot.nvidia else ""
    return f"no AMD GPU on this machine{other}"
