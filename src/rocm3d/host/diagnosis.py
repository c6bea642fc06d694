"""Evaluates every host record on a snapshot: problems, passed conditions, and those that could not be checked."""

from __future__ import annotations

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from rocm3d.host.facts import MachineFacts, NotKnownError, Reading, format_bytes
from rocm3d.host.predicates import predicates
from rocm3d.knowledge.base import Knowledge
from rocm3d.model.condition import Condition, Diagnosis, PlanRelevance, Problem, UncheckedCondition
from rocm3d.model.plan import Plan
from rocm3d.model.snapshot import GraphicsCard, Snapshot

_ORDER = ("error", "warning", "note")


def diagnose(snapshot: Snapshot, knowledge: Knowledge, plan: Plan | None = None) -> Diagnosis:
    """Problems of a machine, in general or for a plan."""
    problems: list[Problem] = []
    unread: list[UncheckedCondition] = []
    fine: list[str] = []
    elsewhere: list[str] = []
    facts = MachineFacts(snapshot, knowledge, plan)
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
        machine=_machine_text(snapshot),
        taken=snapshot.taken,
        gpus=tuple(_gpu_text(card, knowledge) for card in snapshot.gpus) or _wsl_gpus(snapshot),
        plan=f"{plan.repository} on {plan.gpu.title} ({plan.gpu.gfx})" if plan else "",
        problems=tuple(
            sorted(problems, key=lambda problem: (_ORDER.index(problem.severity), not problem.for_plan, problem.id))
        ),
        unread=tuple(unread),
        fine=tuple(fine),
        elsewhere=tuple(elsewhere),
        lacks="" if snapshot.has_gpu else _no_gpu_text(snapshot),
        knowledge_date=str(knowledge.date),
    )


def _applies(condition: Condition, facts: MachineFacts) -> bool:
    """Whether a condition is about this kind of machine. Raises NotKnownError if it depends on an unknown release."""
    snapshot, targets = facts.snapshot, [facts.knowledge.targets.get(gfx) for gfx in facts.targets]
    kinds = {target.architecture for target in targets if target}
    fits = (
        facts.platform in condition.platforms
        and condition.container in (None, bool(snapshot.container))
        and len(facts.discrete_cards) >= condition.gpus
        and (facts.plan is not None or not condition.needs_plan)
        and (not condition.gfx or bool(set(condition.gfx) & set(facts.targets)))
        and (not condition.architectures or not kinds.isdisjoint(condition.architectures))
    )
    return fits and _in_range(condition.rocm, facts.rocm, "ROCm") and _in_range(condition.torch, facts.torch, "torch")


def _in_range(specifier: str, version: Version | None, name: str) -> bool:
    if not specifier:
        return True
    if version is None:
        raise NotKnownError(f"depends on the {name} release, and no {name} was found")
    return version in SpecifierSet(specifier, prereleases=True)


def _problem(condition: Condition, reading: Reading, facts: MachineFacts) -> Problem:
    entry = next((candidate for candidate in condition.for_plan if _matches_plan(candidate, facts)), None)
    return Problem(
        id=condition.id,
        title=condition.title,
        severity=(entry.severity if entry else None) or condition.severity,
        read=reading.observations,
        why=condition.why,
        for_plan=entry.says if entry else "",
        remedy=tuple(_fill(line, reading) for line in condition.remedy),
        root=condition.root,
        reboot=condition.reboot,
        check=_fill(condition.check, reading),
        checked=condition.checked,
        confidence=condition.confidence,
        sources=condition.sources,
    )


def _matches_plan(entry: PlanRelevance, facts: MachineFacts) -> bool:
    """Whether an entry applies to the plan: every key that it has must match."""
    if facts.plan is None:
        return False
    packages = {decision.package for decision in facts.decisions if decision.package}
    families = {facts.knowledge.packages[name].family for name in packages if name in facts.knowledge.packages}
    base = facts.plan.base
    return (
        (not entry.packages or not packages.isdisjoint(entry.packages))
        and (not entry.families or not families.isdisjoint(entry.families))
        and (not entry.gfx or facts.plan.gpu.gfx in entry.gfx)
        and (not entry.builds or bool(facts.builds))
        and (not entry.rocm or (base is not None and base.rocm in SpecifierSet(entry.rocm, prereleases=True)))
    )


def _fill(line: str, reading: Reading) -> str:
    """Not format(): values come from the machine and may contain braces."""
    for name, value in reading.values.items():
        line = line.replace(f"{{{name}}}", value)
    return line


def _machine_text(snapshot: Snapshot) -> str:
    parts = [snapshot.system or "unknown system", f"Linux {snapshot.kernel}" if snapshot.kernel else "unknown kernel"]
    parts += [f"WSL {snapshot.wsl}"] if snapshot.wsl else []
    parts += [f"in {snapshot.container}"] if snapshot.container else []
    parts += [snapshot.processor.model] if snapshot.processor.model else []
    parts += [format_bytes(snapshot.processor.memory_bytes)] if snapshot.processor.memory_bytes else []
    return ", ".join(parts)


def _gpu_text(card: GraphicsCard, knowledge: Knowledge) -> str:
    target = knowledge.targets.get(card.gfx)
    parts = [f"{card.gfx or 'unknown gfx'} at {card.pci}"]
    parts += [target.title] if target else []
    parts += [format_bytes(card.vram_bytes)] if card.vram_bytes else []
    parts += ["integrated GPU"] if card.integrated else []
    parts += [f"{card.width} lanes"] if card.width and not card.integrated else []
    parts += [f"ROCR index {card.rocr_index}"] if card.kfd else ["not known to the compute driver"]
    return ", ".join(parts)


def _wsl_gpus(snapshot: Snapshot) -> tuple[str, ...]:
    has_gpu = snapshot.device("/dev/dxg") is not None and not snapshot.nvidia
    return ("a GPU behind /dev/dxg (model unknown inside WSL)",) if has_gpu else ()


def _no_gpu_text(snapshot: Snapshot) -> str:
    other = "; there is an NVIDIA GPU" if snapshot.nvidia else ""
    return f"no AMD GPU on this machine{other}"
