"""One-line report of a test run: machine, versions, counts by device."""

from __future__ import annotations

import importlib
import platform
from collections import Counter
from typing import Any

import pytest

import rocm3d_kernels
from rocm3d_kernels.gate_kernel import KERNEL_PREFIX
from rocm3d_kernels.operation_checks import operations
from tests import device

# User property of a test report, which may come from another process: kernels launched on the GPU.
LAUNCHED = "kernels launched on the GPU"
STATUS = pytest.StashKey[int]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    """Includes launches by fixtures: a module fixture counts for the first test of the module."""
    device.LAUNCHES.clear()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    try:
        return (yield)
    finally:
        names = sorted(name for name, times in device.LAUNCHES.items() if times and name.startswith(KERNEL_PREFIX))
        if names:
            item.user_properties.append((LAUNCHED, names))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fails a GPU run in which no passed test launched a kernel."""
    if device.on_gpu() and exitstatus == 0 and not hasattr(session.config, "workerinput"):
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and not any(map(launched, reporter.stats.get("passed", ()))):
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
    if not session.config.getoption("collectonly"):
        session.config.stash[STATUS] = int(session.exitstatus)


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Prints the report as the last line."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and STATUS in config.stash:
        reporter.write_line(f"{machine()}: {counts(reporter.stats)}, exit status {config.stash[STATUS]}")


def machine() -> str:
    torch = device.plain_torch
    versions = [f"{name} {version(name)}" for name in ("torch", "triton", "numpy")]
    if device.on_gpu():
        from rocm3d_kernels.tuning import target

        where = f"on {torch.cuda.get_device_name(device.DEVICE)} ({target(device.DEVICE)})"
        versions.append(f"HIP {torch.version.hip}" if torch.version.hip else f"CUDA {torch.version.cuda}")
    else:
        where = "in Triton's interpreter on the CPU"
    return ", ".join([
        f"rocm3d-kernels {rocm3d_kernels.__version__} {where}", *versions, f"Python {platform.python_version()}",
    ])  # fmt: skip


def version(name: str) -> str:
    """__version__ of the module, which for torch includes the build; `none` if it is missing."""
    try:
        return str(importlib.import_module(name).__version__)
    except (ImportError, AttributeError):
        return "none"


def counts(stats: dict[str, list[Any]]) -> str:
    """Tests passed on the GPU and without it, failed, and not run with reasons."""
    passed, failed = stats.get("passed", []), [*stats.get("failed", []), *stats.get("error", [])]
    on_gpu = sum(map(bool, map(launched, passed)))
    parts = [f"{on_gpu} passed on the GPU", f"{len(passed) - on_gpu} passed without it"]
    parts = [*(parts if device.on_gpu() else [f"{len(passed)} passed"]), f"{len(failed)} failed"]
    reasons = Counter(reason(one) for one in stats.get("skipped", []))
    why = f" ({', '.join(f'{count} {text}' for text, count in sorted(reasons.items()))})" if reasons else ""
    parts.append(f"{sum(reasons.values())} not run{why}")
    if device.on_gpu():
        names = {name for one in (*passed, *failed) for name in launched(one)}
        parts.append(f"{len(names & kernels())} of {len(kernels())} kernels launched")
    return ", ".join(parts)


def launched(report: Any) -> list[str]:
    """Our kernels that this test launched on the GPU."""
    return next((names for name, names in getattr(report, "user_properties", ()) if name == LAUNCHED), [])


def reason(report: Any) -> str:
    """Skip reason up to the first colon, which is the same for all tests of a marker."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ").partition(":")[0]


def kernels() -> set[str]:
    """Names of all kernels of the package."""
    modules = [importlib.import_module(f"rocm3d_kernels.{name}.gate") for name in operations()]
    return {item.kernel.__name__ for module in modules for item in module.KERNELS}
