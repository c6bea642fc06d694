"""A pytest plugin that `faults.py` copies into the virtual environment of a checkout copy.

It runs selected tests in a given order, and writes their times and the first failure.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_seconds: dict[str, float] = {}
_config: Any = None


def pytest_addoption(parser: Any) -> None:
    """Add the options for input and output files."""
    parser.addoption("--fault-tests", help="A JSON list of node ids: run these of the collected tests, in this order.")
    parser.addoption("--fault-times", help="Write the seconds of each test here, as JSON.")
    parser.addoption("--fault-failure", help="Write the node id of the first failure here.")


def pytest_configure(config: Any) -> None:
    """Store the options for the other hooks."""
    global _config  # noqa: PLW0603  (hooks of a module have no other place)
    _config = config


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Select and sort. A test that disappears by a fault is no failure: a full run would not notice it either."""
    if config.getoption("--fault-tests"):
        order = json.loads(Path(config.getoption("--fault-tests")).read_text(encoding="utf-8"))
        position = {name: number for number, name in enumerate(order)}
        items[:] = sorted((item for item in items if item.nodeid in position), key=lambda item: position[item.nodeid])


def pytest_runtest_logreport(report: Any) -> None:
    """Add up set-up, call and tear-down. Write a failure at once, because the process may be killed later."""
    _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + report.duration
    if report.failed:
        _record_failure(report.nodeid)


def pytest_collectreport(report: Any) -> None:
    """A module that cannot be imported is a failure too."""
    if report.failed:
        _record_failure(report.nodeid)


def pytest_sessionfinish(session: Any) -> None:
    """The controller process writes the times, because it has all of them."""
    times_file = session.config.getoption("--fault-times")
    if times_file and not hasattr(session.config, "workerinput"):
        Path(times_file).write_text(json.dumps(_seconds), encoding="utf-8")


def _record_failure(name: str) -> None:
    failure_file = _config.getoption("--fault-failure")
    if failure_file and not Path(failure_file).exists():
        Path(failure_file).write_text(name, encoding="utf-8")
