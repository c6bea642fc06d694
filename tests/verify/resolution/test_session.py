from __future__ import annotations

import pytest

from rocm3d.verify.probe import UncheckedError
from rocm3d.verify.resolution import session as module
from rocm3d.verify.resolution.index import IndexSettings
from rocm3d.verify.resolution.resolver import Resolution, ResolutionProblem, ResolvedPackage
from rocm3d.verify.resolution.session import find_resolver, open_session
from rocm3d.verify.resolution.sets import PreparedSet, RequirementLine


class ScriptedResolver:
    """Returns these resolutions in order, and stores the requests."""

    label, indexes = "scripted 1", IndexSettings()

    def __init__(self, *answers: Resolution) -> None:
        self.answers, self.asked = list(answers), []

    def resolve(self, request):
        texts = {
            path.name: path.read_text() for path in (request.requirements, *request.constraints, *request.overrides)
        }
        self.asked.append((request, texts))
        return self.answers.pop(0)


def prepared(*names: str, constraints: tuple[str, ...] = ()) -> PreparedSet:
    lines, binding = ([RequirementLine(text.partition("=")[0], text) for text in part] for part in (names, constraints))
    return PreparedSet("requirements.txt", tuple(lines), tuple(binding))


@pytest.fixture
def session_with(knowledge, stack):
    def make(*answers: Resolution):
        scripted = ScriptedResolver(*answers)
        return scripted, open_session(scripted, stack, knowledge, "linux")

    return make


def problem(kind: str, subject: str = "") -> Resolution:
    return Resolution(problem=ResolutionProblem(kind, "text", subject))


def test_a_conflict_is_resolved_once(session_with):
    scripted, opened = session_with(problem("conflict"))
    with opened as resolver_session:
        assert resolver_session.resolve_on_stack(prepared("a")).excluded == ()
    assert len(scripted.asked) == 1


def test_an_unreachable_index_is_not_excluded(session_with):
    scripted, opened = session_with(problem("unreachable", "http://h/simple/a/"))
    with opened as resolver_session:
        assert resolver_session.resolve_on_stack(prepared("a")).resolution.problem.kind == "unreachable"
    assert len(scripted.asked) == 1


def test_the_same_problem_twice_ends_the_rounds(session_with):
    _, opened = session_with(problem("build", "b"), problem("build", "b"))
    with opened as resolver_session:
        set_resolution = resolver_session.resolve_on_stack(prepared("a", "b==1"))
    assert [item.name for item in set_resolution.excluded] == ["b"]
    assert set_resolution.resolution.problem is not None


def test_a_failed_build_is_excluded_and_the_others_resolved_again(session_with):
    scripted, opened = session_with(problem("build", "B"), Resolution((ResolvedPackage("a", "1"),)))
    with opened as resolver_session:
        set_resolution = resolver_session.resolve_on_stack(prepared("a", "b==1"))
    _, texts = scripted.asked[1]
    assert texts["requirements.txt"] == "a\n"
    assert texts["excluded.txt"] == "b ; python_version < '0'\n"
    assert set_resolution.resolution.packages == (ResolvedPackage("a", "1"),)


def test_on_the_stack_versions_are_pinned_to_the_stub_wheels(session_with):
    scripted, opened = session_with(Resolution())
    with opened as resolver_session:
        resolver_session.resolve_on_stack(
            prepared("a", constraints=("torch==1.0", "numpy<2")), "https://h/simple", no_dependencies=True
        )
    request, texts = scripted.asked[0]
    assert texts["base.txt"].startswith("torch==2.6.0+rocm6.4.3\n")
    assert texts["constraints.txt"] == "numpy<2\n"
    assert (request.index, request.without_dependencies, request.python) == ("https://h/simple", True, "3.12")
    assert len(request.links) == 1


def test_on_a_new_machine_there_are_no_stub_wheels(session_with):
    scripted, opened = session_with(Resolution())
    with opened as resolver_session:
        resolver_session.resolve_on_new_machine(prepared("a", constraints=("torch==1.0",)), "3.10")
    request, texts = scripted.asked[0]
    assert set(texts) == {"requirements.txt", "constraints.txt"}
    assert (request.links, request.python) == ((), "3.10")


def test_the_folder_is_gone_afterwards(session_with):
    _, opened = session_with()
    with opened as resolver_session:
        folder = resolver_session.folder
        assert (folder / "base").is_dir()
    assert not folder.exists()


def test_sessions_that_share_a_cache_resolve_an_equal_set_once(knowledge, stack):
    scripted, resolutions = ScriptedResolver(Resolution((ResolvedPackage("a", "1"),)), Resolution()), {}
    for names in (["a"], ["a"], ["b"]):
        with open_session(scripted, stack, knowledge, "linux", resolutions) as resolver_session:
            resolver_session.resolve_on_stack(prepared(*names))
    assert [texts["requirements.txt"] for _, texts in scripted.asked] == ["a\n", "b\n"]


@pytest.mark.parametrize("name", ["uv", "pip"])
def test_a_missing_resolver_is_an_error(monkeypatch, no_index_settings, name):
    monkeypatch.setattr(module, f"find_{name}", lambda: None)

    with pytest.raises(UncheckedError, match=f"^{name} is not installed"):
        find_resolver(name)


def test_an_installed_resolver_is_returned(no_index_settings):
    assert find_resolver("uv").label.startswith("uv ")
    assert find_resolver("pip").label.startswith("pip ")
