from __future__ import annotations

import sys

import pytest

from rocm3d_kernels.dropin import probe
from rocm3d_kernels.dropin.declaration import DropIn

FAKE = DropIn(name="fake_native", modules={"fake_native": ""}, probe_code="import fake_native")


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.setenv("ROCM3D_CACHE", str(tmp_path / "cache"))
    (tmp_path / "site").mkdir()
    monkeypatch.syspath_prepend(tmp_path / "site")
    return tmp_path / "site"


def test_missing_package_needs_no_child_process(site, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere")

    assert probe.probe_original(FAKE) == probe.ProbeResult(works=False, reason="not installed")


def test_crashed_child_process_means_not_working(site):
    (site / "fake_native.py").write_text("import os; os.abort()")

    assert not probe.probe_original(FAKE).works


def test_timeout_means_not_working(site, monkeypatch):
    (site / "fake_native.py").write_text("import time; time.sleep(10**6)")
    monkeypatch.setattr(probe, "TIMEOUT", 0.5)

    assert "TimeoutExpired" in probe.probe_original(FAKE).reason


def test_result_is_cached_until_a_file_changes(site, monkeypatch):
    (site / "fake_native.py").write_text("")
    assert probe.probe_original(FAKE).works

    monkeypatch.setattr(probe, "run_probe", lambda drop_in: probe.ProbeResult(works=False, reason="probed again"))
    assert probe.probe_original(FAKE).works
    (site / "fake_native.py").write_text("x = 1")
    assert probe.probe_original(FAKE).reason == "probed again"


def test_damaged_cache_entry_is_replaced(site):
    (site / "fake_native.py").write_text("")
    probe.probe_original(FAKE)
    (cache_file,) = (site.parent / "cache" / "dropin").iterdir()
    cache_file.write_text("[]")

    assert probe.probe_original(FAKE).works
