from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "src" / "rocm3d" / "payload" / "probe_backend.py"


def run(request: dict, tmp_path: Path, python=sys.executable, **env):
    note = tmp_path / "request.json"
    note.write_text(json.dumps({"device": "cpu", "tolerances": {}, "roots": [], "probe": "", **request}))
    return subprocess.run([python, SCRIPT, note], capture_output=True, text=True, check=False, env=env or None)


def test_missing_package_is_absent_without_torch(tmp_path):
    answer = json.loads(run({"modules": ["nobody_has_this"], "probe": "gsplat"}, tmp_path).stdout)

    assert (answer["outcome"], answer["reason"]) == ("absent", "is not installed")


def test_without_torch_nothing_is_tried(tmp_path):
    answer = json.loads(run({"modules": ["json"], "probe": "torch_scatter"}, tmp_path).stdout)

    assert (answer["outcome"], answer["reason"]) == ("not_run", "torch is not installed")


def test_whatever_a_package_prints_the_answer_is_one_line(tmp_path):
    (tmp_path / "loud.py").write_text("import os\nprint('hello')\nos.write(1, b'from C\\n')\n")

    ended = run({"modules": ["loud"]}, tmp_path, PYTHONPATH=str(tmp_path))

    assert len(ended.stdout.splitlines()) == 1
    assert json.loads(ended.stdout)["outcome"] == "imported"
    assert "hello" in ended.stderr


def test_crash_leaves_no_result_and_a_traceback(tmp_path):
    (tmp_path / "crash.py").write_text("import ctypes\nctypes.string_at(0)\n")

    ended = run({"modules": ["crash"]}, tmp_path, PYTHONPATH=str(tmp_path))

    assert (ended.returncode, ended.stdout) == (-11, "")
    assert "crash.py" in ended.stderr


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import nothing_like_it", "ModuleNotFoundError: No module named 'nothing_like_it'"),
        ("raise RuntimeError('CUDA_HOME is not set')", "RuntimeError: CUDA_HOME is not set"),
        ("raise SystemExit('sorry')", "ends the program: SystemExit sorry"),
    ],
)
def test_an_import_that_fails_is_broken_with_its_reason(package, run_probe, source, reason):
    package("fancy", __init__=source)

    answer = run_probe("", "fancy")

    assert (answer["outcome"], answer["reason"]) == ("broken", reason)


def test_stub_of_rocm3d_is_a_fallback(package, run_probe):
    package("fancy", __init__="__rocm3d__ = 'a stub: raises when it is called'")

    answer = run_probe("", "fancy")

    assert (answer["outcome"], answer["reason"]) == (
        "fallback",
        "replaced by rocm3d: a stub: raises when it is called",
    )


def test_a_gpu_that_torch_does_not_see_is_not_run(package, run_probe):
    package("torch_scatter")

    answer = run_probe("torch_scatter", "torch_scatter", device="cuda")

    assert answer["outcome"] == "not_run"
    assert answer["reason"].endswith(" (not a ROCm build) sees no GPU")
    assert answer["facts"] == {"gpu": False}


def test_origin_of_a_module(package, run_probe, site):
    package("fancy", __init__="__version__ = '1.2'")

    (local,) = run_probe("", "fancy")["modules"]
    (elsewhere,) = run_probe("", "fancy", roots=[])["modules"]
    (installed,) = run_probe("", "torch")["modules"]

    assert local == {
        "name": "fancy", "file": str(site / "fancy" / "__init__.py"), "version": "1.2", "distribution": "",
        "origin": "repository", "stands_in": "",
    }  # fmt: skip
    assert elsewhere["origin"] == "elsewhere"
    assert (installed["origin"], installed["distribution"]) == ("environment", "torch")


def test_origin_of_an_editable_install(package, run_probe, site, tmp_path):
    source = tmp_path / "checkout with space"
    source.mkdir()
    package("fancy").rename(source / "fancy")
    about = site / "fancy-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: fancy\nVersion: 1.0\n")
    (about / "top_level.txt").write_text("fancy\n")
    url = {"url": source.as_uri(), "dir_info": {"editable": True}}
    (about / "direct_url.json").write_text(json.dumps(url))
    (site / "fancy").symlink_to(source / "fancy")

    (module,) = run_probe("", "fancy", roots=[])["modules"]

    assert (module["origin"], module["version"]) == ("editable", "1.0")


def test_only_installed_modules_are_imported(package, run_probe):
    package("second")

    answer = run_probe("", "first", "second")

    assert [module["name"] for module in answer["modules"]] == ["second"]


def test_a_probe_of_our_own_name_does_not_shadow_the_package(run_probe):
    """The probes are in files such as torch.py."""
    (module,) = run_probe("torch", "torch")["modules"]

    assert module["file"].endswith("site-packages/torch/__init__.py")
