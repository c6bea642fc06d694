"""Runs suites of backend checks on this machine: `rocm3d smoke`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.knowledge.base import suggestion
from rocm3d.model.failure import UserError
from rocm3d.model.look import BackendCheck, SuiteChecks
from rocm3d.verify.backends.ask import Question, ask
from rocm3d.verify.backends.judge import judged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.suite import Suite
    from rocm3d.verify.backends.environment import Environment

Chosen = tuple[tuple[str, str, tuple[Question, ...]], ...]


def chosen(names: Sequence[str], knowledge: Knowledge) -> Chosen:
    """Id, title and checks of each named suite or package; without names, of every suite."""
    if not names:
        return tuple((suite.id, suite.title, _questions(suite, knowledge)) for suite in knowledge.suites.values())
    return tuple(_named(name, knowledge) for name in names)


def _named(name: str, knowledge: Knowledge) -> tuple[str, str, tuple[Question, ...]]:
    word = name.lower().replace(" ", "-").replace("_", "-")
    suite, package = knowledge.suites.get(word), knowledge.packages.get(word)
    if suite is not None:
        return suite.id, suite.title, _questions(suite, knowledge)
    if package is not None and package.probe:
        return package.id, package.purpose, (_question(package.id, knowledge),)
    known = [*knowledge.suites, *(item.id for item in knowledge.packages.values() if item.probe)]
    raise UserError(f"no suite or package with a backend check is named {name!r}", hint=suggestion(word, known))


def _questions(suite: Suite, knowledge: Knowledge) -> tuple[Question, ...]:
    own = tuple(Question("", item.modules, item.probe) for item in suite.probes)
    return (*own, *(_question(name, knowledge) for name in suite.packages))


def _question(name: str, knowledge: Knowledge) -> Question:
    package = knowledge.packages[name]
    return Question(name, package.imports, package.probe)


def looked(
    given: Chosen, environment: Environment, knowledge: Knowledge, progress: Callable[[str], None]
) -> Iterator[SuiteChecks]:
    """Runs the checks one after another, because two at once would share the GPU and its memory."""

    def one(question: Question) -> BackendCheck:
        progress(question.package or question.probe)
        return judged(ask(question, environment, knowledge), knowledge.backends)

    for name, title, questions in given:
        yield SuiteChecks(suite=name, title=title, looks=tuple(one(question) for question in questions))
