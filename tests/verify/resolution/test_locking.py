"""The lock of a repository's requirements, resolved by uv against an index on this machine."""

from __future__ import annotations

import hashlib

import pytest

from rocm3d.model.errors import MachineError
from rocm3d.model.plan import Plan
from rocm3d.verify.resolution import session
from rocm3d.verify.resolution.locking import find_uv_resolver, resolve_files

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


def resolve(stack, files, knowledge):
    return resolve_files(plan(stack), files, knowledge, find_uv_resolver())


def test_without_uv_nothing_is_resolved(monkeypatch, no_index_settings):
    monkeypatch.setattr(session, "find_uv", lambda: None)

    with pytest.raises(MachineError, match="uv is not installed"):
        find_uv_resolver()


def test_requirements_without_a_solution_have_the_problem(index, knowledge, stack):
    index.wheel("a", "1.0", "b==9")
    index.wheel("b", "1.0")

    resolution = resolve(stack, {"requirements.txt": b"a\n"}, knowledge)

    assert "b==9" in resolution.problem
    assert (resolution.index_problem, resolution.resolved.packages) == ("", ())


def test_a_package_that_excludes_the_stack_is_named_with_its_chain(index, knowledge, stack):
    index.wheel("a", "1.0", "torch<1")

    assert resolve(stack, {"requirements.txt": b"a\n"}, knowledge).problem == "a -> torch<1"


def test_an_index_that_does_not_respond_is_no_answer(knowledge, stack, monkeypatch, no_index_settings):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")

    resolution = resolve(stack, {"requirements.txt": b"numpy\n"}, knowledge)

    assert (resolution.problem, resolution.index_problem.split(":")[0]) == ("", "unreachable")


def test_what_does_not_build_and_what_must_not_come_is_left_out(index, knowledge, stack):
    backend = '[build-system]\nrequires = []\nbuild-backend = "missing"\nbackend-path = ["."]\n'
    index.sdist("builds", "1.0", metadata=False, pyproject=backend)
    index.wheel("top", "1.0", "nvidia-cublas-cu12")
    index.wheel("nvidia-cublas-cu12", "12.4.5.8")

    resolution = resolve(stack, {"requirements.txt": b"builds\ntop\n"}, knowledge)

    assert resolution.problem == ""
    assert resolution.left_out == (
        "builds does not build",
        "nvidia-cublas-cu12 12.4.5.8 is a CUDA package (top -> nvidia-cublas-cu12)",
    )


def test_every_wheel_has_its_hash_and_the_base_is_left_out(index, knowledge, stack):
    wheel = index.wheel("a", "1.0", "b", "torch")
    index.wheel("b", "1.0")
    index.wheel("b", "2.0")
    index.sdist("c", "1.0")
    add_hashes(index)
    files = {"requirements.txt": b"a\nc\n", "constraints.txt": b"b<2\n", "other/requirements.txt": b"unknown\n"}
    resolved = resolve(stack, files, knowledge).resolved
    assert [(item.name, item.version) for item in resolved.packages] == [("a", "1.0"), ("b", "1.0")]
    assert resolved.packages[0].files[0].sha256 == hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert [(item.name, item.reason.split(",")[0]) for item in resolved.unlocked] == [("c", "it has no wheel")]


def test_a_file_without_requirements_has_an_empty_lock(no_index_settings, knowledge, stack):
    assert resolve(stack, {"requirements.txt": b"# nothing\n"}, knowledge).resolved.packages == ()
