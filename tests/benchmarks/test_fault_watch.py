from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from fault_watch import instrumented

WATCHED = """from __future__ import annotations
LIMIT = 3
def f(x):
    if x == 1:
        return 1
    elif x == 2:
        return (
            2
        )
    try:
        return LIMIT
    finally:
        x = 1
"""


@pytest.mark.parametrize(
    ("line", "calls"),
    [(2, "123"), (3, "123"), (4, "123"), (5, "1"), (6, "23"), (8, "2"), (11, "3"), (13, "3")],
)
def test_instrumented_line_records_every_run(line, calls, monkeypatch):
    """`calls`: those of f(1), f(2) and f(3) that run the line; lines of the module run before any of them."""
    recorded, names = [], {}
    monkeypatch.setitem(sys.modules, "fault_hits", SimpleNamespace(hit=recorded.append))
    exec(compile(instrumented(WATCHED.encode(), {line: 7}), "watched", "exec"), names)
    at_import = bool(recorded)

    recording_calls = []
    for argument in (1, 2, 3):
        recorded.clear()
        assert names["f"](argument) == argument
        recording_calls += [str(argument)] * (recorded == [7])

    assert at_import == (line < 4)
    assert at_import or "".join(recording_calls) == calls


def test_instrumented_line_runs_without_a_recorder(monkeypatch):
    names = {}
    monkeypatch.setitem(sys.modules, "fault_hits", None)
    exec(compile(instrumented(b"x = 1\n", {1: 0}), "watched", "exec"), names)

    assert names["x"] == 1
