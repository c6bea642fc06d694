"""Assembles the documentation: hand-written pages, a page for every record, and the support matrix.

Writes build/docs-source/, from which mkdocs makes build/site/ (see mkdocs.yml and `make docs`).
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rocm3d.knowledge.base import Knowledge
from rocm3d.knowledge.load import load
from rocm3d.model.package import Package
from rocm3d.model.target import Target
from rocm3d.plan.routes import RepositoryConstraints
from rocm3d.plan.stacks import StackCriteria, evaluate_stack
from rocm3d.skill.stage import PAGE_KINDS, record_page

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "build" / "docs-source"
COLUMNS = 8
# Best first.
ORDER = ("keep", "drop", "replace", "build", "substitute", "stub", "blocked")


def pages(knowledge: Knowledge) -> Iterator[tuple[str, str]]:
    """Every generated page by its path."""
    for kind in PAGE_KINDS:
        names = list(getattr(knowledge, kind))
        yield f"reference/{kind}/index.md", _index(kind, names, knowledge)
        for name in names:
            yield f"reference/{kind}/{name}.md", record_page(kind, name, knowledge)
    yield "reference/matrix.md", matrix(knowledge)


def _index(kind: str, names: list[str], knowledge: Knowledge) -> str:
    lines = [f"# {kind.capitalize()}", "", f"{len(names)} records, knowledge of {knowledge.date}.", ""]
    for name in names:
        record = getattr(knowledge, kind)[name]
        keys = ("rule", "title", "purpose", "claim", "meaning")
        about = next((getattr(record, key) for key in keys if hasattr(record, key)), "")
        status = getattr(record, "status", "active")
        lines.append(f"- [{name}]({name}.md): {about}" + (f" ({status})" if status != "active" else ""))
    return "\n".join(lines) + "\n"


def matrix(knowledge: Knowledge) -> str:
    """The best decision for each package and target over all stacks that support the target, and on how many stacks."""
    targets = _columns(knowledge)
    lines = ["# Support matrix", "", _legend(knowledge), ""]
    lines.append("| package | family | " + " | ".join(target.gfx for target in targets) + " |")
    lines.append("|---|---|" + "---|" * len(targets))
    for package in sorted(knowledge.packages.values(), key=lambda item: (item.family, item.id)):
        cells = " | ".join(_cell(package, target, knowledge) for target in targets)
        lines.append(f"| [{package.id}](packages/{package.id}.md) | {package.family} | {cells} |")
    return "\n".join(lines) + "\n"


def _legend(knowledge: Knowledge) -> str:
    return (
        f"Computed from the routes of {len(knowledge.packages)} packages and {len(knowledge.stacks)} stacks. "
        "A cell is the best decision on any stack, and on how many of the stacks that support the target. "
        "It shows what is known, not what was run: see each route for source, date and confidence."
    )


def _columns(knowledge: Knowledge) -> list[Target]:
    served = Counter(gfx for stack in knowledge.stacks.values() for gfx in stack.gfx)
    common = {gfx for gfx, _ in served.most_common(COLUMNS)}
    return [target for target in knowledge.targets.values() if target.gfx in common]


def _cell(package: Package, target: Target, knowledge: Knowledge) -> str:
    gpu = knowledge.gpu(target.gfx)
    request = StackCriteria({package.id: package.id}, knowledge, gpu, RepositoryConstraints())
    stacks = [stack for stack in knowledge.stacks.values() if target.gfx in stack.gfx]
    decisions = Counter(str(evaluate_stack(stack, request).decisions[0].decision) for stack in stacks)
    best = next((decision for decision in ORDER if decisions[decision]), "blocked")
    return f"{best} {decisions[best]}/{len(stacks)}"


def main() -> None:
    """Write all pages."""
    shutil.rmtree(TARGET, ignore_errors=True)
    shutil.copytree(ROOT / "docs", TARGET)
    shutil.copy(ROOT / "CHANGELOG.md", TARGET / "changelog.md")
    knowledge, count = load(), 0
    for name, text in pages(knowledge):
        path = TARGET / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        count += 1
    print(f"{count} pages in {TARGET.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
