from __future__ import annotations

import pytest

from rocm3d.verify.resolution import session
from rocm3d.verify.resolution.session import run_in_session
from rocm3d.verify.resolution.verdicts import verdict


def fail_if_called(resolver_session):
    pytest.fail("the probe ran")


def test_without_a_stack_nothing_is_checked(ported):
    (result,) = run_in_session(ported(base=None), "p", fail_if_called)

    assert (result.outcome, result.reason) == ("skipped", "the plan chose no stack")


def test_without_the_resolver_nothing_is_checked(ported, monkeypatch, no_index_settings):
    monkeypatch.setattr(session, "find_uv", lambda: None)

    assert [item.outcome for item in run_in_session(ported(), "p", fail_if_called)] == ["not_run"]


def test_without_the_index_nothing_is_checked(ported, monkeypatch, no_index_settings):
    monkeypatch.setenv("PIP_INDEX_URL", "http://me:secret@127.0.0.1:9/simple")

    (result,) = run_in_session(ported(), "p", fail_if_called)

    assert result.reason == "the index http://127.0.0.1:9/simple does not respond: Connection refused"


def test_equal_verdicts_are_returned_once(ported, index):
    result = run_in_session(
        ported(), "p", lambda resolver_session: [verdict("p", "passed", "", ["a"]), verdict("p", "passed", "", ["a"])]
    )

    assert len(result) == 1
