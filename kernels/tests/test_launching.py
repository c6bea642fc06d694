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

    def run(self, *arguments):
        self.kernel.ran.append(arguments)

    def __getitem__(self, grid):
        return lambda *arguments: self.kernel.by_hooks.append((grid, arguments))


@pytest.fixture
def kernel(monkeypatch):
    monkeypatch.setattr(launching, "_INTERPRETED", False)
    monkeypatch.setattr(launching, "_current", lambda: -1)  # get_device() of CPU tensors
    monkeypatch.setattr(launching, "_stream", lambda _: "stream")
    monkeypatch.setattr(launching, "_SIGNATURES", {})
    return Kernel()


def launch(kernel, *arguments, size=4, warps=1):
    launching.launch(kernel, GRID, arguments, SIZE=size, NAME="x", num_warps=warps)


def test_the_second_launch_goes_to_the_driver_with_addresses_and_constants(kernel):
    first, second = torch.zeros(8), torch.zeros(8)
    launch(kernel, first, second, 5)
    launch(kernel, first, second, 6)

    assert len(kernel.compiled) == 1
    hooks = (None, None, None)
    expected = (*GRID, "stream", "function", "metadata", *hooks, first.data_ptr(), second.data_ptr(), 6, 4, "x")
    assert kernel.ran == [expected]


def test_other_addresses_and_integers_reuse_the_kernel(kernel):
    for count in (0, 1, -7, 16, 2**31 - 1):
        launch(kernel, torch.zeros(8), torch.zeros(8), count)

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
def test_a_changed_signature_compiles_another_kernel(kernel, other):
    launch(kernel, torch.zeros(8), torch.zeros(8), 5)
    arguments = other()
    launch(kernel, *arguments)
    launch(kernel, *arguments)

    assert len(kernel.compiled) == 2
    assert len(kernel.ran) == 1


@pytest.mark.parametrize(("hip", "kernels"), [(True, 2), (False, 1)])
def test_a_tensor_over_2_gib_compiles_another_kernel_on_amd(kernel, monkeypatch, hip, kernels):
    """On AMD Triton uses 32-bit offsets if the storage of a tensor is below 2 GiB."""
    monkeypatch.setattr(launching, "_HIP", hip)
    launch(kernel, torch.zeros(8), torch.zeros(8), 5)
    launch(kernel, torch.zeros(8), torch.empty(2**29)[:8], 5)  # never written

    assert len(kernel.compiled) == kernels


@pytest.mark.parametrize("changed", [{"size": 8}, {"warps": 2}])
def test_other_constants_and_options_are_another_kernel(kernel, changed):
    launch(kernel, torch.zeros(8), torch.zeros(8), 5)
    launch(kernel, torch.zeros(8), torch.zeros(8), 5, **changed)

    assert len(kernel.compiled) == 2


def test_kernels_are_cached_separately(kernel):
    other = Kernel()
    for one in (kernel, other, kernel):
        launch(one, torch.zeros(8), torch.zeros(8), 5)

    assert (len(kernel.compiled), len(other.compiled)) == (1, 1)


def test_one_tensor_and_no_numbers(kernel):
    tensor = torch.zeros(8)
    kernel.arg_names = ("first", "SIZE", "NAME")
    for _ in range(2):
        launch(kernel, tensor)

    assert kernel.ran[0][-3:] == (tensor.data_ptr(), 4, "x")


def test_hooks_of_a_profiler_see_launches(kernel, monkeypatch):
    first, second = torch.zeros(8), torch.zeros(8)
    launch(kernel, first, second, 5)
    monkeypatch.setattr(launching.knobs.runtime, "launch_enter_hook", lambda _: None)
    launch(kernel, first, second, 5)

    assert kernel.ran == []
    assert kernel.by_hooks == [(GRID, (first, second, 5, 4, "x"))]


# Prepared launches.


@pytest.fixture
def prepared(kernel, monkeypatch):
    monkeypatch.setattr(launching, "_current", lambda: None)  # index of the CPU device
    monkeypatch.setattr(torch.cuda, "device", lambda number: kernel.devices.append(number) or contextlib.nullcontext())
    return launching.PreparedLaunch(kernel, torch.device("cpu"), GRID, (5,), SIZE=4, NAME="x", num_warps=1)


def test_second_prepared_launch_goes_to_the_driver(kernel, prepared):
    first, second = torch.zeros(8), torch.zeros(8)
    prepared(first, None)
    assert kernel.compiled == [(GRID, (first, None, 5), {"SIZE": 4, "NAME": "x", "num_warps": 1})]
    prepared(second, None)

    hooks = (None, None, None)
    expected = (*GRID, "stream", "function", "metadata", *hooks, second.data_ptr(), None, 5, 4, "x")
    assert kernel.ran == [expected]
    prepared.launch_addresses(second.data_ptr(), None)
    assert kernel.ran == [expected] * 2


@pytest.mark.parametrize("position", [0, 1])
def test_prepared_launch_leaves_unaligned_tensors_to_triton(kernel, prepared, position):
    usual, odd = torch.zeros(8), torch.zeros(9)[1:]
    tensors = [usual, usual]
    tensors[position] = odd
    prepared(*tensors)
    assert not prepared.is_ready
    prepared(usual, usual)
    assert prepared.is_ready
    prepared(*tensors)

    assert (len(kernel.compiled), kernel.ran) == (3, [])


@pytest.mark.parametrize("hip", [True, False])
def test_prepared_launch_leaves_tensors_over_2_gib_to_triton_on_amd(kernel, prepared, monkeypatch, hip):
    monkeypatch.setattr(launching, "_HIP", hip)
    prepared(torch.zeros(8), torch.zeros(8))
    prepared(torch.zeros(8), torch.empty(2**29)[:8])

    assert len(kernel.compiled) == (2 if hip else 1)


def test_prepared_launch_calls_profiler_hooks(kernel, prepared, monkeypatch):
    prepared(torch.zeros(8), torch.zeros(8))
    monkeypatch.setattr(launching.knobs.runtime, "launch_enter_hook", lambda _: None)
    prepared(torch.zeros(8), torch.zeros(8))

    assert (len(kernel.compiled), kernel.ran) == (2, [])


def test_prepared_launch_switches_to_its_device(kernel, prepared, monkeypatch):
    prepared(torch.zeros(8), torch.zeros(8))
    monkeypatch.setattr(launching, "_current", lambda: 1)
    prepared(torch.zeros(8), torch.zeros(8))

    assert (len(kernel.compiled), kernel.ran, kernel.devices) == (2, [], [None, None])


# On a GPU, with our kernels: `launch` and `PreparedLaunch`.


def aligned_and_not(*shape):
    """The same numbers twice: aligned to 16 bytes, and not."""
    numbers = torch.rand(shape, generator=torch.Generator().manual_seed(1)).to(DEVICE)
    return numbers, torch.cat((numbers.new_zeros(1), numbers.flatten()))[1:].view(shape)


@pytest.mark.gpu_only("the interpreter caches no launches")
def test_cached_launches_are_separate_by_alignment(tolerance):
    """Each twice, alternating: the second launch goes to the driver."""
    for directions, coefficients in 2 * list(zip(aligned_and_not(12, 3), aligned_and_not(12, 4, 3), strict=True)):
        expected = harmonics.reference.spherical_harmonics(1, directions, coefficients)
        actual = harmonics.spherical_harmonics(1, directions, coefficients)
        torch.testing.assert_close(actual, expected, **tolerance["float32-operator"])
    target = torch.full((1, 2, 20, 20), 0.5, device=DEVICE)
    for image in 2 * aligned_and_not(1, 2, 20, 20):
        expected = ssim.reference.ssim(image, target, valid=False)
        torch.testing.assert_close(ssim.ssim(image, target), expected, **tolerance["float32-ssim"])
