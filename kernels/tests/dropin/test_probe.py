from __future__ import annotations

import sys

import pytest

from rocm3d_kernels.dropin import probe
from rocm3d_kernels.dropin.stand_in import StandIn

FAKE = StandIn(name="fake_native", modules={"fake_native": ""}, proof="import fake_native")


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.setenv("ROCM3D_CACHE", str(tmp_path / "cache"))
    (tmp_path / "site").mkdir()
    monkeypatch.syspath_prepend(tmp_path / "site")
    return tmp_path / "site"


def test_what_is_not_there_needs_no_child(site, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere")

    assert probe.real(FAKE) == probe.Answer(works=False, reason="not installed")


def test_a_child_that_dies_is_no_proof(site):
    (site / "fake_native.py").write_text("import os; os.abort()")

    assert not probe.real(FAKE).works


def test_a_child_that_takes_too_long_is_no_proof(site, monkeypatch):
    (site / "fake_native.py").write_text("import time; time.sleep(10**6)")
    monkeypatch.setattr(probe, "LIMIT", 0.5)

    assert "TimeoutExpired" in probe.real(FAKE).reason


def test_the_answer_is_kept_until_a_file_changes(site, monkeypatch):
    (site / "fake_native.py").write_text("")
    assert probe.real(FAKE).works

    monkeypatch.setattr(probe, "tried", lambda stand_in: probe.Answer(works=False, reason="asked again"))
    assert probe.real(FAKE).works
    (site / "fake_native.py").write_text("x = 1")
    assert probe.real(FAKE).reason == "asked again"


def test_a_damaged_answer_is_asked_again(site):
    (site / "fake_native.py").write_text("")
    probe.real(FAKE)
    (kept,) = (site.parent / "cache" / "dropin").iterdir()
    kept.write_text("[]")

    assert probe.real(FAKE).works
