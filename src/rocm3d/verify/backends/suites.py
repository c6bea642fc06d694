"""Runs suites of backend checks on this machine: `rocm3d smoke`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rocm3d.knowledge.base import Knowledge, suggestion
from rocm3d.model.backend_check import BackendCheck, SuiteChecks
from rocm3d.model.errors import UserError
from rocm3d.model.suite import Suite
from rocm3d.verify.backends.environment import BackendCheckRequest, Environment, run_backend_check

SelectedSuites = tuple[tuple[str, str, tuple[BackendCheckRequest, ...]], ...]


def select_suites(names: Sequence[str], knowledge: Knowledge) -> SelectedSuites:
    """Id, title and checks of each named suite or package; without names, of every suite."""
    if not names:
        return tuple((suite.id, suite.title, _suite_requests(suite, knowledge)) for suite in knowledge.suites.values())
    return tuple(_select_one(name, knowledge) for name in names)


def _select_one(name: str, knowledge: Knowledge) -> tuple[str, str, tuple[BackendCheckRequest, ...]]:
    identifier = name.lower().replace(" ", "-").replace("_", "-")
    suite, package = knowledge.suites.get(identifier), knowledge.packages.get(identifier)
    if suite is not None:
        return suite.id, suite.title, _suite_requests(suite, knowledge)
    if package is not None and package.probe:
        return package.id, package.purpose, (_package_request(package.id, knowledge),)
    known = [*knowledge.suites, *(item.id for item in knowledge.packages.values() if item.probe)]
    raise UserError(f"no suite or package with a backend check is named {name!r}", hint=suggestion(identifier, known))


def _suite_requests(suite: Suite, knowledge: Knowledge) -> tuple[BackendCheckRequest, ...]:
    own = tuple(BackendCheckRequest("", item.modules, item.probe) for item in suite.probes)
    return (*own, *(_package_request(name, knowledge) for name in suite.packages))


def _package_request(name: str, knowledge: Knowledge) -> BackendCheckRequest:
    package = knowledge.packages[name]
    return BackendCheckRequest(name, package.imports, package.probe)


def run_suites(
    selected: SelectedSuites, environment: Environment, knowledge: Knowledge, progress: Callable[[str], None]
) -> Iterator[SuiteChecks]:
    """Runs the checks one after another, because two at once would share the GPU and its memory."""

    def run_check(request: BackendCheckRequest) -> BackendCheck:
        progress(request.package or request.probe)
        return run_backend_check(request, environment, knowledge)

    for name, title, requests in selected:
        yield SuiteChecks(suite=name, title=title, looks=tuple(run_check(request) for request in requests))
