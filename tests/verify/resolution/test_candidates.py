"""Stacks tried in turn, with uv and an index of tiny wheels."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rocm3d.model.errors import MachineError
from rocm3d.model.plan import ChosenStack
from rocm3d.pipeline import Network, PlanOptions, Repository, resolve_gpu
from rocm3d.verify.resolution.candidates import Candidate, first_that_resolves, one_line_reason
from rocm3d.verify.resolution.locking import StackResolution, find_uv_resolver

from .test_locking import plan

BACKEND = '[build-system]\nrequires = []\nbuild-backend = "missing"\nbackend-path = ["."]\n'


@pytest.fixture
def find(knowledge, stack):
    """Tries stacks with the given versions of Python; returns the result and the ids in the order of trial."""

    def run(requirements: str, *pythons: str, before=None):
        tried: list[str] = []
        names = {f"s{number}-py{python}": python for number, python in enumerate(pythons)}

        def next_candidate(unresolved):
            name = next((name for name in names if name not in unresolved), None)
            if name is None:
                return None
            tried.append(name)
            base = stack.model_copy(update={"id": name, "python": names[name]})
            document = plan(base).model_copy(update={"stack": ChosenStack(id=name, reason="r")})
            return Candidate(document, {"requirements.txt": requirements.encode()})

        stacks = {name: stack.model_copy(update={"id": name, "python": python}) for name, python in names.items()}
        known = replace(knowledge, stacks=stacks)
        return first_that_resolves(next_candidate, find_uv_resolver(), known, before or {}), tried

    return run


def test_without_a_stack_there_is_none(find, no_index_settings):
    assert find("a\n") == (None, [])


def test_requirements_that_resolve_nowhere(index, find):
    index.wheel("a", "1.0")

    result, tried = find("a==2\n", "3.12", "3.10")

    assert (result, tried) == (None, ["s0-py3.12", "s1-py3.10"])


def test_an_index_that_does_not_respond_ends_it(find, monkeypatch, no_index_settings):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")

    with pytest.raises(MachineError, match="the requirements were not resolved: unreachable"):
        find("a\n", "3.12", "3.10")


def test_the_first_that_resolves_and_why_the_others_do_not(index, find):
    index.wheel("a", "1.0", tag="cp310-cp310-manylinux_2_17_x86_64")

    result, tried = find("a==1.0\n", "3.13", "3.12", "3.10", "3.11")

    assert tried == ["s0-py3.13", "s1-py3.12", "s2-py3.10"]
    assert result.candidate.plan.base.id == "s2-py3.10"
    assert set(result.unresolved) == {"s0-py3.13", "s1-py3.12"}
    assert all("a==1.0 has no wheels with a matching Python ABI tag" in text for text in result.unresolved.values())
    assert all("we can conclude" not in text for text in result.unresolved.values())


def test_stacks_that_were_tried_before_are_not_tried_again(index, find):
    index.wheel("a", "1.0")

    result, tried = find("a\n", "3.12", "3.10", before={"s0-py3.12": "why"})

    assert (result.candidate.plan.base.id, tried) == ("s1-py3.10", ["s1-py3.10"])


def test_what_does_not_build_is_tried_once_for_each_python(index, find):
    index.sdist("builds", "1.0", metadata=False, pyproject=BACKEND)

    result, tried = find("builds\n", "3.12", "3.12", "3.10", "3.10")

    assert tried == ["s0-py3.12", "s2-py3.10"]
    assert result.candidate.plan.base.id == "s0-py3.12"
    assert result.resolution.left_out == ("builds does not build",)


def test_a_complete_installation_is_preferred_to_a_partial_one(index, find):
    index.sdist("builds", "1.0", metadata=False, pyproject=BACKEND)

    result, _ = find("builds ; python_version > '3.10'\n", "3.12", "3.10")

    assert result.candidate.plan.base.id == "s1-py3.10"
    assert result.unresolved == {"s0-py3.12": "builds does not build"}


@pytest.mark.parametrize(
    ("resolution", "text"),
    [
        (StackResolution(problem="Because a needs b, we can conclude that\nnothing works."), "a needs b"),
        (StackResolution(problem="no\n  solution"), "no solution"),
        (
            StackResolution(left_out=("a does not build", "b is a CUDA package")),
            "a does not build; b is a CUDA package",
        ),
        (StackResolution(problem="x" * 999), "x" * 240),
        (StackResolution(problem="see https://user:secret@host/simple"), "see https://***@host/simple"),
    ],
)
def test_a_reason_is_one_line(resolution, text):
    assert one_line_reason(resolution) == text


@pytest.fixture
def repository(tmp_path, knowledge):
    """A repository that requires one package."""
    root = tmp_path / "some"
    root.mkdir()
    (root / "requirements.txt").write_text("torch\na==1.0\n")
    return Repository(root, knowledge)


def test_a_locked_plan_takes_the_first_stack_that_resolves(index, repository, knowledge):
    index.wheel("a", "1.0", tag="cp310-cp310-manylinux_2_17_x86_64")
    gpu = resolve_gpu("mi300x", knowledge)
    first = repository.plan(gpu)

    document = repository.plan(gpu, lock=True)

    assert knowledge.stacks[first.stack.id].python != "3.10"
    assert document.base.python == "3.10"
    assert "; resolves with uv " in document.stack.reason
    reasons = {item.id: item.reason for item in document.rejected_stacks}
    assert reasons[first.stack.id].startswith("the requirements do not resolve: a==1.0 has no wheels")
    assert "\n" not in reasons[first.stack.id]
    assert document.resolved is not None


def test_a_requested_stack_is_locked_or_refused(index, repository, knowledge):
    index.wheel("a", "1.0", tag="cp310-cp310-manylinux_2_17_x86_64")
    gpu = resolve_gpu("mi300x", knowledge)
    options = PlanOptions(stack=repository.plan(gpu).stack.id)

    with pytest.raises(MachineError, match=f"the requirements do not resolve: {options.stack}: a==1.0") as caught:
        repository.plan(gpu, options, lock=True)

    assert caught.value.hint == "leave out --stack to try the others"


def test_without_any_installation_each_reason_is_named_once(index, repository, knowledge):
    index.wheel("a", "2.0")

    with pytest.raises(MachineError, match="the requirements do not resolve: ") as caught:
        repository.plan(resolve_gpu("mi300x", knowledge), lock=True)

    assert caught.value.message.count("there is no version of a==1.0") == 1


def test_verify_names_the_stack_that_resolves(index, repository, knowledge):
    index.wheel("a", "1.0", tag="cp310-cp310-manylinux_2_17_x86_64")
    plan_document = repository.plan(resolve_gpu("mi300x", knowledge))
    repository.apply(plan_document)

    verdicts = repository.verify(("resolve",), (), Network(disabled_reason="")).verdicts

    (failed,) = [item for item in verdicts if item.probe == "resolve_port" and item.outcome == "failed"]
    stack = next(item for item in knowledge.stacks.values() if f"--stack {item.id}" in failed.reason)
    assert failed.reason.endswith(f"they resolve on Python 3.10: rocm3d plan . --gpu mi300x --stack {stack.id}")


def test_verify_says_that_no_stack_resolves(index, repository, knowledge):
    index.wheel("a", "2.0")
    repository.apply(repository.plan(resolve_gpu("mi300x", knowledge)))

    verdicts = repository.verify(("resolve",), (), Network(disabled_reason="")).verdicts

    (failed,) = [item for item in verdicts if item.probe == "resolve_port" and item.outcome == "failed"]
    assert failed.reason.endswith("; no other stack resolves them all")


def test_a_stack_on_which_more_is_blocked_is_not_tried(index, repository, knowledge, monkeypatch):
    index.wheel("a", "2.0")
    tried: list[str] = []
    repository.progress = lambda text: tried.append(text) if text.startswith("resolving") else None
    candidate = repository._candidate

    def blocked_elsewhere(scan, gpu, options):
        result = candidate(scan, gpu, options)
        if result is None or not options.unresolved:
            return result
        decisions = tuple(item.model_copy(update={"decision": "blocked"}) for item in result.plan.decisions)
        return Candidate(result.plan.model_copy(update={"decisions": decisions}), result.files)

    monkeypatch.setattr(repository, "_candidate", blocked_elsewhere)
    with pytest.raises(MachineError, match="do not resolve"):
        repository.plan(resolve_gpu("mi300x", knowledge), lock=True)

    assert len(tried) == 1
