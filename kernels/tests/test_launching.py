"""Launches are cached by everything that a kernel is compiled for, and by nothing else."""

from __future__ import annotations

import contextlib

import pytest
import torch

from rocm3d_kernels import harmonics, launching, ssim
from tests.device import DEVICE

GRID = (3, 2, 1)


class Kernel:
    """Fake Triton kernel that records compilations and runs."""

    arg_names = ("first", "second", "count", "SIZE", "NAME")

    def __init__(self):
        self.compiled, self.ran, self.by_hooks, self.devices = [], [], [], []

    def __getitem__(self, grid):
        def compile_and_run(*arguments, **constants):
            self.compiled.append((grid, arguments, constants))
            return Compiled(self)

        return compile_and_run


class Compiled:
    function, packed_metadata = "function", "metadata"

    def __init__(self, kernel):
        self.kernel = kernel

    def run(self, *given):
        self.kernel.ran.append(given)

    def __getitem__(self, grid):
        return lambda *given: self.kernel.by_hooks.append((grid, given))


@pytest.fixture
def kernel(monkeypatch):
    monkeypatch.setattr(launching, "_INTERPRETED", False)
    monkeypatch.setattr(launching, "_current", lambda: -1)  # get_device() of CPU tensors
    monkeypatch.setattr(launching, "_stream", lambda _: "stream")
    monkeypatch.setattr(launching, "_FORMS", {})
    return Kernel()


def start(kernel, *arguments, size=4, warps=1):
    launching.launch(kernel, GRID, arguments, SIZE=size, NAME="x", num_warps=warps)


def test_the_second_launch_goes_to_the_driver_with_addresses_and_constants(kernel):
    first, second = torch.zeros(8), torch.zeros(8)
    start(kernel, first, second, 5)
    start(kernel, first, second, 6)

    assert len(kernel.compiled) == 1
    hooks = (None, None, None)
    wanted = (*GRID, "stream", "function", "metadata", *hooks, first.data_ptr(), second.data_ptr(), 6, 4, "x")
    assert kernel.ran == [wanted]


def test_another_address_or_number_of_the_usual_kind_is_no_other_kernel(kernel):
    for count in (0, 1, -7, 16, 2**31 - 1):
        start(kernel, torch.zeros(8), torch.zeros(8), count)

    assert len(kernel.compiled) == 1


@pytest.mark.parametrize(
    "other",
    [
        lambda: (torch.zeros(8, dtype=torch.float16), torch.zeros(8), 5),
        lambda: (torch.zeros(8), torch.zeros(8, dtype=torch.int32), 5),
        lambda: (torch.zeros(8), torch.zeros(9)[1:], 5),
        lambda: (torch.zeros(9)[1:], torch.zeros(8), 5),
        lambda: (torch.zeros(8), None, 5),
        lambda: (torch.zeros(8), torch.zeros(8), 2**31),
        lambda: (torch.zeros(8), torch.zeros(8), -(2**31)),
        lambda: (torch.zeros(8), torch.zeros(8), 5.0),
    ],
    ids=["half", "integers", "not-aligned", "first-not-aligned", "left-out", "large", "very-negative", "fraction"],
)
def test_what_triton_compiles_for_is_another_kernel(kernel, other):
    start(kernel, torch.zeros(8), torch.zeros(8), 5)
    given = other()
    start(kernel, *given)
    start(kernel, *given)

    assert len(kernel.compiled) == 2
    assert len(kernel.ran) == 1


@pytest.mark.parametrize(("hip", "kernels"), [(True, 2), (False, 1)])
def test_a_tensor_beyond_32_bits_is_another_kernel_for_amd(kernel, monkeypatch, hip, kernels):
    """On AMD Triton uses 32-bit offsets if the storage of a tensor is below 2 GiB."""
    monkeypatch.setattr(launching, "_HIP", hip)
    start(kernel, torch.zeros(8), torch.zeros(8), 5)
    start(kernel, torch.zeros(8), torch.empty(2**29)[:8], 5)  # never written

    assert len(kernel.compiled) == kernels


@pytest.mark.parametrize("changed", [{"size": 8}, {"warps": 2}])
def test_other_constants_and_options_are_another_kernel(kernel, changed):
    start(kernel, torch.zeros(8), torch.zeros(8), 5)
    start(kernel, torch.zeros(8), torch.zeros(8), 5, **changed)

    assert len(kernel.compiled) == 2


def test_two_kernels_do_not_meet(kernel):
    other = Kernel()
    for one in (kernel, other, kernel):
        start(one, torch.zeros(8), torch.zeros(8), 5)

    assert (len(kernel.compiled), len(other.compiled)) == (1, 1)


def test_one_tensor_and_no_numbers(kernel):
    tensor = torch.zeros(8)
    kernel.arg_names = ("first", "SIZE", "NAME")
    for _ in range(2):
        start(kernel, tensor)

    assert kernel.ran[0][-3:] == (tensor.data_ptr(), 4, "x")


def test_hooks_of_a_profiler_see_launches(kernel, monkeypatch):
    first, second = torch.zeros(8), torch.zeros(8)
    start(kernel, first, second, 5)
    monkeypatch.setattr(launching.knobs.runtime, "launch_enter_hook", lambda _: None)
    start(kernel, first, second, 5)

    assert kernel.ran == []
    assert kernel.by_hooks == [(GRID, (first, second, 5, 4, "x"))]


# Prepared launches.


@pytest.fixture
def started(kernel, monkeypatch):
    monkeypatch.setattr(launching, "_current", lambda: None)  # index of the CPU device
    monkeypatch.setattr(torch.cuda, "device", lambda number: kernel.devices.append(number) or contextlib.nullcontext())
    return launching.Start(kernel, torch.device("cpu"), GRID, (5,), SIZE=4, NAME="x", num_warps=1)


def test_a_start_goes_to_the_driver_the_second_time(kernel, started):
    first, second = torch.zeros(8), torch.zeros(8)
    started(first, None)
    assert kernel.compiled == [(GRID, (first, None, 5), {"SIZE": 4, "NAME": "x", "num_warps": 1})]
    started(second, None)

    hooks = (None, None, None)
    wanted = (*GRID, "stream", "function", "metadata", *hooks, second.data_ptr(), None, 5, 4, "x")
    assert kernel.ran == [wanted]
    started.at(second.data_ptr(), None)
    assert kernel.ran == [wanted] * 2


@pytest.mark.parametrize("place", [0, 1])
def test_a_start_leaves_unusual_tensors_to_triton(kernel, started, place):
    usual, odd = torch.zeros(8), torch.zeros(9)[1:]
    given = [usual, usual]
    given[place] = odd
    started(*given)
    assert not started.ready
    started(usual, usual)
    assert started.ready
    started(*given)

    assert (len(kernel.compiled), kernel.ran) == (3, [])


@pytest.mark.parametrize("hip", [True, False])
def test_a_start_leaves_a_tensor_beyond_32_bits_to_triton_on_amd(kernel, started, monkeypatch, hip):
    monkeypatch.setattr(launching, "_HIP", hip)
    started(torch.zeros(8), torch.zeros(8))
    started(torch.zeros(8), torch.empty(2**29)[:8])

    assert len(kernel.compiled) == (2 if hip else 1)


def test_a_start_is_seen_by_hooks_of_a_profiler(kernel, started, monkeypatch):
    started(torch.zeros(8), torch.zeros(8))
    monkeypatch.setattr(launching.knobs.runtime, "launch_enter_hook", lambda _: None)
    started(torch.zeros(8), torch.zeros(8))

    assert (len(kernel.compiled), kernel.ran) == (2, [])


def test_a_start_on_another_device_than_the_current_one_goes_there(kernel, started, monkeypatch):
    started(torch.zeros(8), torch.zeros(8))
    monkeypatch.setattr(launching, "_current", lambda: 1)
    started(torch.zeros(8), torch.zeros(8))

    assert (len(kernel.compiled), kernel.ran, kernel.devices) == (2, [], [None, None])


# On a GPU, with our kernels: `launch` and `PreparedLaunch`.


def aligned_and_not(*shape):
    """The same numbers twice: aligned to 16 bytes, and not."""
    numbers = torch.rand(shape, generator=torch.Generator().manual_seed(1)).to(DEVICE)
    return numbers, torch.cat((numbers.new_zeros(1), numbers.flatten()))[1:].view(shape)


@pytest.mark.gpu_only("the interpreter caches no launches")
def test_launches_that_are_kept_stay_apart_by_alignment(tolerance):
    """Each twice, alternating: the second launch goes to the driver."""
    for directions, coefficients in 2 * list(zip(aligned_and_not(12, 3), aligned_and_not(12, 4, 3), strict=True)):
        wanted = harmonics.reference.spherical_harmonics(1, directions, coefficients)
        found = harmonics.spherical_harmonics(1, directions, coefficients)
        torch.testing.assert_close(found, wanted, **tolerance["float32-operator"])
    target = torch.full((1, 2, 20, 20), 0.5, device=DEVICE)
    for image in 2 * aligned_and_not(1, 2, 20, 20):
        wanted = ssim.reference.ssim(image, target, valid=False)
        torch.testing.assert_close(ssim.ssim(image, target), wanted, **tolerance["float32-ssim"])
