from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
from pathlib import Path

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


def cache_files(site):
    folder = site.parent / "cache" / "dropin"
    return sorted(folder.iterdir()) if folder.is_dir() else []


MOMENTARY = {
    "GPU memory": "class OutOfMemoryError(RuntimeError): pass\nraise OutOfMemoryError('HIP out of memory.')",
    "wrapped": "try: raise MemoryError\nexcept MemoryError as e: raise ImportError('no extension') from e",
    "disk full": "raise OSError(28, 'No space left on device')",
    "busy": "raise RuntimeError('CUDA error: all CUDA-capable devices are busy or unavailable')",
    "interrupt": "raise KeyboardInterrupt",
    "out-of-memory killer": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "stopped job": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "C++ memory": "import os, sys; sys.stderr.write('terminate called after throwing std::bad_alloc\\n'); os.abort()",
    "time limit": "import time; time.sleep(10**6)",
}


@pytest.mark.parametrize("text", MOMENTARY.values(), ids=MOMENTARY)
def test_failure_of_the_moment_is_not_cached(site, monkeypatch, text):
    monkeypatch.setattr(probe, "TIMEOUT", 1 if "sleep" in text else 60)
    (site / "fake_native.py").write_text(
        f"import os\nif not os.path.exists({str(site / 'later')!r}):\n"
        + "".join(f"    {line}\n" for line in text.splitlines())
    )
    first = probe.probe_original(FAKE)

    assert (first.works, first.transient) == (False, True)
    assert cache_files(site) == []
    (site / "later").write_text("")
    assert probe.probe_original(FAKE).works
    assert len(cache_files(site)) == 1


LASTING = {
    "import": "raise ImportError('libcudart.so.13: cannot open shared object file')",
    "no kernel": "raise RuntimeError('HIP error: invalid device function')",
    "no GPU": "raise RuntimeError('No HIP GPUs are available')",
    "crash": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
}


@pytest.mark.parametrize("text", LASTING.values(), ids=LASTING)
def test_failure_of_the_installation_is_cached(site, monkeypatch, text):
    (site / "fake_native.py").write_text(text)
    first = probe.probe_original(FAKE)
    monkeypatch.setattr(probe, "run_probe", None)

    assert (first.works, first.transient) == (False, False)
    assert probe.probe_original(FAKE) == first


def test_interrupted_probe_ends_its_child_and_caches_nothing(site, monkeypatch):
    (site / "fake_native.py").write_text(
        f"import os, time\nopen({str(site / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(10**6)"
    )
    communicate = subprocess.Popen.communicate

    def interrupt(self, *arguments, **settings):
        with contextlib.suppress(subprocess.TimeoutExpired):
            communicate(self, timeout=1)
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupt)

    with pytest.raises(KeyboardInterrupt):
        probe.probe_original(FAKE)
    assert cache_files(site) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int((site / "pid").read_text()), 0)


def test_processes_that_outlive_the_time_limit_are_ended(site, monkeypatch):
    """A compiler started by the package holds the error output open."""
    (site / "fake_native.py").write_text(
        "import subprocess, sys\n"
        "one = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(10**6)'])\n"
        f"open({str(site / 'pid')!r}, 'w').write(str(one.pid))"
    )
    monkeypatch.setattr(probe, "TIMEOUT", 2)

    assert probe.probe_original(FAKE).transient
    with contextlib.suppress(ProcessLookupError):
        ended = os.pidfd_open(int((site / "pid").read_text()))
        assert select.select([ended], [], [], 20)[0]


DAMAGED = {
    "deep": "[" * 10_000,
    "list": "[]",
    "no key": '{"works": true, "reason": ""}',
    "another key": '{"key": "0", "works": true, "reason": ""}',
    "works is a text": '{"key": KEY, "works": "false", "reason": ""}',
    "works is a number": '{"key": KEY, "works": 1, "reason": ""}',
    "reason is a list": '{"key": KEY, "works": true, "reason": []}',
    "reason controls a terminal": '{"key": KEY, "works": true, "reason": "\\u001b[2J"}',
    "reason is long": '{"key": KEY, "works": true, "reason": "' + "x" * 5000 + '"}',
    "more": '{"key": KEY, "works": true, "reason": "", "x": 1}',
    "binary": "\x00\xff",
    "truncated": '{"key": KEY, "works": tr',
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_cache_entry_that_we_did_not_write_is_probed_again_and_replaced(site, content):
    (site / "fake_native.py").write_text("raise ImportError('broken')")
    probe.probe_original(FAKE)
    (cache_file,) = cache_files(site)
    good = cache_file.read_bytes()
    cache_file.write_text(content.replace("KEY", f'"{cache_file.stem}"'))

    assert probe.probe_original(FAKE) == probe.ProbeResult(works=False, reason="ImportError: broken")
    assert cache_file.read_bytes() == good


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_cache_file_is_probed_again_and_replaced(site, make):
    (site / "fake_native.py").write_text("")
    probe.probe_original(FAKE)
    (cache_file,) = cache_files(site)
    cache_file.unlink()
    make(cache_file)

    assert probe.probe_original(FAKE).works
    assert cache_file.is_file()
    assert not cache_file.is_symlink()


def test_without_a_place_for_the_cache_the_probe_runs(site, monkeypatch):
    (site / "fake_native.py").write_text("")
    monkeypatch.setenv("ROCM3D_CACHE", str(site / "fake_native.py"))
    assert probe.probe_original(FAKE).works

    monkeypatch.delenv("ROCM3D_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")

    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(probe.Path, "home", no_home)
    assert probe.probe_original(FAKE).works
    assert not Path("relative").exists()


def test_fifo_among_the_files_of_a_package_does_not_block(site):
    (site / "fake_native").mkdir()
    (site / "fake_native" / "__init__.py").write_text("")
    os.mkfifo(site / "fake_native" / "part.py")

    assert probe.probe_original(FAKE).works


def test_other_error_output_than_text_is_read(site):
    (site / "fake_native.py").write_text("import os; os.write(2, b'\\xff\\x1b[2J' * 100_000); os._exit(3)")
    result = probe.probe_original(FAKE)

    assert not result.works
    assert len(result.reason) == probe.MAX_REASON
    assert result.reason.isprintable()
