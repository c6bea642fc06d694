"""The lock of a repository's requirements, resolved by uv against an index on this machine."""

from __future__ import annotations

import hashlib

import pytest

from rocm3d.model.errors import MachineError, UserError
from rocm3d.model.plan import Plan
from rocm3d.verify.resolution.locking import lock_requirements

from ..conftest import GPU


def plan(stack) -> Plan:
    return Plan(
        repository="r",
        gpu=GPU,
        stack=None,
        base=stack,
        rejected_stacks=(),
        decisions=(),
        edits=(),
        answered=(),
        left=(),
        readiness="needs-edits",
        knowledge_date="2026-11-15",
    )


def add_hashes(index) -> None:
    """The hash of each file in its link, as PyPI has it."""
    for page in (index.folder / "simple").glob("*/index.html"):
        lines = []
        for line in page.read_text().splitlines():
            file = line.partition(">")[2].partition("<")[0]
            digest = hashlib.sha256((index.folder / "files" / file).read_bytes()).hexdigest()
            lines.append(line.replace('">', f'#sha256={digest}">'))
        page.write_text("\n".join(lines))


def test_a_plan_without_a_stack_is_refused(knowledge):
    with pytest.raises(UserError, match="no stack"):
        lock_requirements(plan(None), {}, knowledge)


def test_requirements_without_a_solution_are_refused(index, knowledge, stack):
    index.wheel("a", "1.0", "b==9")
    index.wheel("b", "1.0")
    with pytest.raises(MachineError, match="do not resolve"):
        lock_requirements(plan(stack), {"requirements.txt": b"a\n"}, knowledge)


def test_every_wheel_has_its_hash_and_the_base_is_left_out(index, knowledge, stack):
    wheel = index.wheel("a", "1.0", "b", "torch")
    index.wheel("b", "1.0")
    index.wheel("b", "2.0")
    index.sdist("c", "1.0")
    add_hashes(index)
    files = {"requirements.txt": b"a\nc\n", "constraints.txt": b"b<2\n", "other/requirements.txt": b"unknown\n"}
    resolved = lock_requirements(plan(stack), files, knowledge)
    assert [(item.name, item.version) for item in resolved.packages] == [("a", "1.0"), ("b", "1.0")]
    assert resolved.packages[0].files[0].sha256 == hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert [(item.name, item.reason.split(",")[0]) for item in resolved.unlocked] == [("c", "it has no wheel")]


def test_a_file_without_requirements_has_an_empty_lock(no_index_settings, knowledge, stack):
    assert lock_requirements(plan(stack), {"requirements.txt": b"# nothing\n"}, knowledge).packages == ()
