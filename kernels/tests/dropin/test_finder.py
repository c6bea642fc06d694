from __future__ import annotations

import json
import sys
from types import ModuleType

import pytest

from rocm3d_kernels.dropin import finder, probe
from rocm3d_kernels.dropin.declaration import all_drop_ins

AUTO = "import rocm3d_kernels.dropin.auto\n"


def install_original(folder, text, name="simple_knn"):
    """Installs an original package of that name."""
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text("")
    (folder / name / "_C.py").write_text(text)
    return folder


def test_drop_ins_are_off_by_default(python):
    assert "No module named 'simple_knn'" in python("import rocm3d_kernels, simple_knn", fails=True)


def test_working_original_is_not_replaced(python, tmp_path):
    site = install_original(tmp_path / "site", "who = 'real'")

    assert python(f"{AUTO}import simple_knn._C; print(simple_knn._C.who)", path=[site]) == "real"


def test_cuda_torch_disables_drop_ins(python, tmp_path):
    (tmp_path / "site" / "torch").mkdir(parents=True)
    (tmp_path / "site" / "torch" / "__init__.py").write_text("")
    (tmp_path / "site" / "torch" / "version.py").write_text("cuda: str | None = '13.0'\nhip = None\n")

    assert "No module named 'simple_knn'" in python(f"{AUTO}import simple_knn", path=[tmp_path / "site"], fails=True)


@pytest.mark.stand_ins
def test_installed_package_that_does_not_load_is_replaced(python, tmp_path):
    """A child process tries the installed files; the result is cached by their digest."""
    site = install_original(tmp_path / "site", "raise ImportError('libcudart.so.13: cannot open shared object file')")
    program = f"{AUTO}import simple_knn; print(simple_knn.__rocm3d__['stands_in_for'])"

    assert python(program, path=[site]) == "simple_knn"
    (cache_file,) = (tmp_path / "cache" / "dropin").iterdir()
    assert json.loads(cache_file.read_text())["works"] is False
    assert "libcudart" in json.loads(cache_file.read_text())["reason"]
    (site / "simple_knn" / "_C.py").write_text("")
    assert "AttributeError" in python(program, path=[site], fails=True)


def test_force_replaces_a_working_original(python, tmp_path):
    site = install_original(tmp_path / "site", "")

    program = f"{AUTO}import simple_knn; print(simple_knn.__rocm3d__)"
    assert python(program, path=[site], ROCM3D_DROPIN="force").startswith("rocm3d-kernels ")


def test_names_limit_the_drop_ins(python):
    program = f"{AUTO}import fused_ssim"

    assert "No module named 'fused_ssim'" in python(program, ROCM3D_DROPIN="simple_knn", fails=True)
    assert "has no drop-in for gsplat3" in python(program, ROCM3D_DROPIN="gsplat3", fails=True)


@pytest.mark.stand_ins
def test_missing_names_raise_with_a_link_to_the_docs(python):
    expected = {
        "import simple_knn._C; simple_knn._C.distCUDA3": "AttributeError: simple_knn._C.distCUDA3 is not covered",
        "from simple_knn._C import distCUDA3": "simple_knn._C.distCUDA3 is not covered",
        "from fused_ssim import fused_ssim3d": "fused_ssim.fused_ssim3d is not covered",
        "import simple_knn.extra": "simple_knn.extra is not covered",
    }
    program = (
        f"{AUTO}for text in {[*expected]}:\n"
        "    try: exec(text)\n"
        "    except Exception as error: print(type(error).__name__, error, sep=': ')"
    )

    for line, text in zip(python(program).splitlines(), expected.values(), strict=True):
        assert text in line
        assert "docs/kernels.md" in line


@pytest.mark.stand_ins
def test_metadata_exists_only_for_drop_ins_with_a_version(python):
    program = (
        f"{AUTO}import importlib.metadata as m; print(m.version('simple-knn'), m.metadata('simple_knn')['Summary'])\n"
        "try: m.version('fused-ssim')\nexcept m.PackageNotFoundError: print('none')\n"
        "print(sorted(d.name for d in m.distributions() if d.name == 'simple_knn'))"
    )

    assert python(program).splitlines() == ["1.0.0 replaced by rocm3d-kernels", "none", "['simple_knn']"]


@pytest.mark.stand_ins
def test_drop_in_functions_work_and_are_recorded(python, tmp_path):
    program = (
        f"{AUTO}import torch\nfrom simple_knn._C import distCUDA2\nfrom fused_ssim import fused_ssim\n"
        "print(distCUDA2(torch.eye(3)).tolist())\n"
        "a = torch.rand(1, 1, 12, 12, requires_grad=True); b = torch.rand(1, 1, 12, 12, requires_grad=True)\n"
        "fused_ssim(a, b, padding='valid', train=True).backward(); print(a.grad is not None, b.grad is None)"
    )

    assert python(program, ROCM3D_RECORD=str(tmp_path / "told")).splitlines() == ["[2.0, 2.0, 2.0]", "True True"]
    lines = [json.loads(line) for line in (tmp_path / "told").read_text().splitlines()]
    modules = {line["name"]: line for line in lines if line["kind"] == "module"}
    assert set(modules) == {"simple_knn", "simple_knn._C", "fused_ssim"}
    assert all(line["stands_in"].startswith("rocm3d-kernels ") for line in modules.values())
    assert {line["op"] for line in lines if line["kind"] == "dispatch"} == {"knn", "ssim"}


@pytest.mark.stand_ins
def test_find_spec_imports_no_torch(python):
    program = f"{AUTO}import sys, importlib.util as u; print(bool(u.find_spec('simple_knn')), 'torch' in sys.modules)"

    assert python(program) == "True False"


def test_every_package_declares_modules_under_its_own_name():
    for name, drop_in in all_drop_ins().items():
        assert name.partition(".")[0] == drop_in.name.partition(".")[0]
        assert drop_in.probe_code


def test_failure_of_the_moment_is_probed_again_with_a_backoff(monkeypatch):
    """The drop-in is used meanwhile. Once it is loaded the decision holds: modules of both must not mix."""
    drop_in = all_drop_ins()["simple_knn"]
    probes = []

    def momentary(_):
        probes.append(len(probes))
        return probe.ProbeResult(works=False, reason="out of memory", transient=True)

    monkeypatch.setattr(probe, "probe_original", momentary)
    monkeypatch.setattr(finder.torch_kind, "kind", lambda: "hip")
    one = finder.DropInFinder()
    counts = []
    for _ in range(20):
        assert one.replaces(drop_in)
        counts.append(len(probes))

    assert counts == [1] * 4 + [2] * 8 + [3] * 8
    loaded = ModuleType("simple_knn")
    loaded.__rocm3d__ = {}
    monkeypatch.setitem(sys.modules, "simple_knn", loaded)
    assert all(one.replaces(drop_in) for _ in range(300))
    assert len(probes) == 3

    monkeypatch.delitem(sys.modules, "simple_knn")
    monkeypatch.setattr(probe, "probe_original", lambda _: probe.ProbeResult(works=True, reason="works"))
    decisions = [one.replaces(drop_in) for _ in range(300)]
    assert decisions.count(True) < 20
    assert not decisions[-1]


@pytest.mark.stand_ins
def test_damaged_cache_does_not_reach_the_import(python, tmp_path):
    site = install_original(tmp_path / "site", "raise ImportError('libcudart.so.13')")
    program = f"{AUTO}import simple_knn; print(simple_knn.__rocm3d__['stands_in_for'])"
    python(program, path=[site])
    (cache_file,) = (tmp_path / "cache" / "dropin").iterdir()
    good = cache_file.read_text()
    for content in ("[" * 10_000, '{"works": ' + "[" * 3_000):
        cache_file.write_text(content)
        assert python(program, path=[site]) == "simple_knn"
        assert cache_file.read_text() == good


@pytest.mark.stand_ins
def test_gpu_without_free_memory_is_probed_again_by_the_next_process(python, tmp_path):
    text = (
        f"import os\nif not os.path.exists({str(tmp_path / 'later')!r}):\n"
        "    raise RuntimeError('HIP out of memory. Tried to allocate 2.00 MiB')\nwho = 'real'"
    )
    site = install_original(tmp_path / "site", text)
    program = f"{AUTO}import simple_knn, simple_knn._C\nprint(getattr(simple_knn, '__rocm3d__', 'original'))"

    assert python(program, path=[site]).startswith("rocm3d-kernels")
    (tmp_path / "later").write_text("")
    assert python(program, path=[site]) == "original"
