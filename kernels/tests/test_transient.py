from __future__ import annotations

import errno
import subprocess

import pytest
import torch

from rocm3d_kernels.transient import is_transient


def caused_by(error):
    """An error of an installation that this error caused."""
    outer = ImportError("the extension could not be loaded")
    outer.__cause__ = error
    return outer


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("CUDA error: no kernel image is available for execution on the device"),
        ImportError("libcudart.so.13: cannot open shared object file: No such file or directory"),
        ImportError("undefined symbol: _ZN3c104cuda9SetDeviceEi"),
        ModuleNotFoundError("No module named 'jaxtyping'"),
        AssertionError(),
        RuntimeError("No HIP GPUs are available"),
        OSError(errno.ENOENT, "No such file or directory"),
        PermissionError(errno.EACCES, "Permission denied"),
        RecursionError("maximum recursion depth exceeded"),
        SystemExit(1),
    ],
    ids=repr,
)
def test_failures_of_an_installation_last(error):
    assert not is_transient(error)
    assert not is_transient(caused_by(error))


@pytest.mark.parametrize(
    "error",
    [
        torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB"),
        torch.OutOfMemoryError("HIP out of memory. Tried to allocate 20.00 MiB"),
        RuntimeError("HIP error: out of memory"),
        RuntimeError("hipErrorOutOfMemory"),
        RuntimeError("CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)"),
        RuntimeError("HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources"),
        RuntimeError("CUDA error: all CUDA-capable devices are busy or unavailable"),
        RuntimeError("CUDA error: the launch timed out and was terminated"),
        RuntimeError("system not yet initialized"),
        OSError(errno.ENOSPC, "No space left on device"),
        OSError(errno.EDQUOT, "Disk quota exceeded"),
        OSError(errno.EMFILE, "Too many open files"),
        BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"),
        OSError(errno.ETXTBSY, "Text file busy"),
        MemoryError(),
        TimeoutError(),
        KeyboardInterrupt(),
        subprocess.TimeoutExpired("ninja", 5),
        RuntimeError("Error building extension: fatal error: error writing to /tmp/x.s: No space left on device"),
    ],
    ids=repr,
)  # fmt: skip
def test_failures_of_the_moment_do_not_last(error):
    assert is_transient(error)
    assert is_transient(caused_by(error))


def test_errors_that_refer_to_each_other_are_read_once():
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__context__ = second, first

    assert not is_transient(first)
