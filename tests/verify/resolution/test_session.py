from __future__ import annotations

import pytest

from rocm3d.verify.resolution import session as module
from rocm3d.verify.resolution.answer import Problem, Resolution, Resolved
from rocm3d.verify.resolution.index import Indexes
from rocm3d.verify.resolution.prepare import Prepared
from rocm3d.verify.resolution.session import resolver_named, session
from rocm3d.verify.resolution.sets import Line


class Scripted:
    """Returns these resolutions in order, and stores the requests."""

    label, indexes = "scripted 1", Indexes()

    def __init__(self, *answers: Resolution) -> None:
        self.answers, self.asked = list(answers), []

    def resolve(self, request):
        texts = {
            path.name: path.read_text() for path in (request.requirements, *request.constraints, *request.overrides)
        }
        self.asked.append((request, texts))
        return self.answers.pop(0)


def prepared(*names: str, constraints: tuple[str, ...] = ()) -> Prepared:
    lines, binding = ([Line(text.partition("=")[0], text) for text in part] for part in (names, constraints))
    return Prepared("requirements.txt", tuple(lines), tuple(binding))


@pytest.fixture
def visit(knowledge, stack):
    def make(*answers: Resolution):
        scripted = Scripted(*answers)
        return scripted, session(scripted, stack, knowledge, "linux")

    return make


def problem(kind: str, subject: str = "") -> Resolution:
    return Resolution(problem=Problem(kind, "text", subject))


def test_a_conflict_is_asked_once(visit):
    scripted, opened = visit(problem("conflict"))
    with opened as here:
        assert here.on_base(prepared("a")).aside == ()
    assert len(scripted.asked) == 1


def test_an_index_that_does_not_answer_is_not_set_aside(visit):
    scripted, opened = visit(problem("unreachable", "http://h/simple/a/"))
    with opened as here:
        assert here.on_base(prepared("a")).resolution.problem.kind == "unreachable"
    assert len(scripted.asked) == 1


def test_the_same_trouble_twice_ends(visit):
    _, opened = visit(problem("build", "b"), problem("build", "b"))
    with opened as here:
        found = here.on_base(prepared("a", "b==1"))
    assert [item.name for item in found.aside] == ["b"]
    assert found.resolution.problem is not None


def test_what_cannot_be_built_is_left_out_and_the_rest_asked_again(visit):
    scripted, opened = visit(problem("build", "B"), Resolution((Resolved("a", "1"),)))
    with opened as here:
        found = here.on_base(prepared("a", "b==1"))
    _, texts = scripted.asked[1]
    assert texts["requirements.txt"] == "a\n"
    assert texts["excluded.txt"] == "b ; python_version < '0'\n"
    assert found.resolution.packages == (Resolved("a", "1"),)


def test_on_the_stack_it_is_pinned_to_the_stand_ins(visit):
    scripted, opened = visit(Resolution())
    with opened as here:
        here.on_base(prepared("a", constraints=("torch==1.0", "numpy<2")), "https://h/simple", alone=True)
    request, texts = scripted.asked[0]
    assert texts["base.txt"].startswith("torch==2.6.0+rocm6.4.3\n")
    assert texts["constraints.txt"] == "numpy<2\n"
    assert (request.index, request.without_dependencies, request.python) == ("https://h/simple", True, "3.12")
    assert len(request.links) == 1


def test_on_nothing_there_is_no_stand_in(visit):
    scripted, opened = visit(Resolution())
    with opened as here:
        here.on_nothing(prepared("a", constraints=("torch==1.0",)), "3.10")
    request, texts = scripted.asked[0]
    assert set(texts) == {"requirements.txt", "constraints.txt"}
    assert (request.links, request.python) == ((), "3.10")


def test_the_folder_is_gone_afterwards(visit):
    _, opened = visit()
    with opened as here:
        place = here.folder
        assert (place / "base").is_dir()
    assert not place.exists()


def test_a_resolver_that_is_not_here_is_told(monkeypatch, no_settings):
    monkeypatch.setattr(module, "find_uv", lambda: None)
    monkeypatch.setattr(module, "find_pip", lambda: None)

    assert resolver_named("uv").startswith("uv is not installed")
    assert resolver_named("pip").startswith("pip is not installed")


def test_a_resolver_that_is_here_is_given(no_settings):
    assert resolver_named("uv").label.startswith("uv ")
    assert resolver_named("pip").label.startswith("pip ")
