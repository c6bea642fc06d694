from __future__ import annotations

import pytest

from rocm3d.verify.probe import Probe
from rocm3d.verify.resolution import session
from rocm3d.verify.resolution.session import in_session


@in_session
def fail_if_called(case, resolver_session):
    pytest.fail("the probe ran")


PROBE = Probe("p", "resolve", fail_if_called)


def test_without_a_stack_nothing_is_checked(ported):
    (result,) = PROBE.attempt(ported(base=None))

    assert (result.outcome, result.reason) == ("skipped", "the plan chose no stack")


def test_without_the_resolver_nothing_is_checked(ported, monkeypatch, no_index_settings):
    monkeypatch.setattr(session, "find_uv", lambda: None)

    assert [item.outcome for item in PROBE.attempt(ported())] == ["not_run"]


def test_without_the_index_nothing_is_checked(ported, monkeypatch, no_index_settings):
    monkeypatch.setenv("PIP_INDEX_URL", "http://me:secret@127.0.0.1:9/simple")

    (result,) = PROBE.attempt(ported())

    assert result.reason == "the index http://127.0.0.1:9/simple does not respond: Connection refused"


def test_equal_verdicts_are_returned_once(ported, index):
    equal = [PROBE.verdict("passed", "", ["a"]), PROBE.verdict("passed", "", ["a"])]
    probe = Probe("p", "resolve", in_session(lambda case, resolver_session: equal))

    assert len(probe.attempt(ported())) == 1
