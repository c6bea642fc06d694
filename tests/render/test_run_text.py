from __future__ import annotations

from datetime import datetime, timezone

from rocm3d.model.evidence import MissingLink
from rocm3d.model.run import ImportFallback, KernelTime, LoadedModule, Manifest, PeakMemory, RunRecord, Steps
from rocm3d.render import run_text


def run(**more):
    fields = {
        "name": "a", "command": ("a",), "started": datetime(2026, 11, 15, tzinfo=timezone.utc), "seconds": 10.0,
        "limit": 60.0, "status": "finished", "exit_code": 0, "manifest": Manifest(machine="m"), **more,
    }  # fmt: skip
    return RunRecord(**fields)


def test_a_run_without_torch_or_gpu_reports_it():
    assert list(run_text.run_lines(run())) == [("ran on", "no GPU, without torch")]


def test_a_failed_run_gives_the_reason():
    assert (
        run_text.outcome_line(run(status="killed", reason="ended by SIGKILL"))
        == "a: killed after 10.0 s: ended by SIGKILL"
    )


def test_everything_that_was_recorded_has_a_line():
    record = run(
        manifest=Manifest(machine="m", gpu="AMD Instinct MI300X", gfx="gfx942", torch="2.11", rocm="7.1"),
        backends={"attention": ("AOTriton",), "copy": ("copy engine",)},
        kernels=(KernelTime(name="k" * 100, calls=2, microseconds=3.0, backend="AOTriton", operation="attention"),),
        modules=(LoadedModule(name="gsplat", file="/g.py", version="1", stands_in="rocm3d-kernels"),),
        fallbacks=(ImportFallback(module="flash_attn", reason="not installed", where="a.py:3"),),
        steps=(Steps(kind="optimizer", count=3, first_seconds=2.0, steady_seconds=0.25),),
        memory=PeakMemory(gpu_reserved=1024**3, host=1024**2),
        missing=(MissingLink(link="files", reason="too many"),),
    )

    assert list(run_text.run_lines(record)) == [
        ("ran on", "AMD Instinct MI300X (gfx942), torch 2.11 (HIP 7.1)"),
        ("attention", "AOTriton"),
        ("kernel", f"100% AOTriton: {'k' * 57}... (2 calls)"),
        ("module", "gsplat 1 (/g.py)"),
        ("substitute", "gsplat: rocm3d-kernels"),
        ("fallback", "flash_attn: not installed, imported at a.py:3"),
        ("steps", "3 of the optimizer: first after 2 s, then 250 ms each"),
        ("memory", "1024 MiB GPU, 1 MiB host"),
        ("missing", "files: too many"),
    ]
