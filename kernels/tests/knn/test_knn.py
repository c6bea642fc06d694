from __future__ import annotations

import pytest
from tests.device import torch
from tests.properties import given, some

import rocm3d_kernels
from rocm3d_kernels.knn import mean_squared_distance, reference

pytestmark = [
    pytest.mark.usefixtures("poisoned"),
    # The interpreter warns when it subtracts infinities, which the kernel does on purpose.
    pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning"),
]


def cloud(count, scale=1.0):
    return torch.rand(count, 3, generator=torch.Generator().manual_seed(count)) * scale


def exact(points):
    """All pairs in float64."""
    exact_points = points.double()
    squares = ((exact_points[:, None] - exact_points[None]) ** 2).sum(-1).fill_diagonal_(torch.inf)
    return squares.sort(dim=1).values[:, :3].mean(1)


@pytest.mark.parametrize("shape", [(3,), (4, 2), (1, 4, 3)])
def test_wrong_shapes_are_rejected(shape):
    with pytest.raises(ValueError, match=r"points must be \[N, 3\]"):
        mean_squared_distance(torch.zeros(shape))


def test_unsupported_dtypes_are_rejected():
    with pytest.raises(TypeError, match="int64 is not supported"):
        mean_squared_distance(torch.zeros(4, 3, dtype=torch.int64))


def test_too_many_points_are_rejected():
    with pytest.raises(ValueError, match="too many"):
        mean_squared_distance(torch.empty(1, 1, device="meta").expand(2**30, 3))


@pytest.mark.parametrize("implementation", ["triton", "reference"])
def test_few_points_have_a_defined_result(implementation, monkeypatch):
    monkeypatch.setenv("ROCM3D_KERNELS", implementation)

    assert mean_squared_distance(torch.zeros(0, 3)).shape == (0,)
    assert torch.isnan(mean_squared_distance(torch.ones(1, 3))).all()
    assert mean_squared_distance(torch.tensor([[0.0, 0, 0], [2, 0, 0]])).tolist() == [4, 4]
    assert mean_squared_distance(torch.tensor([[0.0, 0, 0], [2, 0, 0], [0, 4, 0]])).tolist() == [10, 12, 18]


@pytest.mark.parametrize("implementation", ["triton", "reference"])
def test_points_that_are_not_finite_are_ignored(implementation, monkeypatch, tolerance):
    monkeypatch.setenv("ROCM3D_KERNELS", implementation)
    good = cloud(24)
    bad = torch.tensor([[torch.nan, 0, 0], [0.5, torch.inf, 0.5], [0.5, 0.5, -torch.inf]])
    result = mean_squared_distance(torch.cat((bad[:1], good, bad[1:])))

    assert torch.isnan(result[[0, -2, -1]]).all()
    torch.testing.assert_close(result[1:-2].double(), exact(good), **tolerance["float32-distance"])


def test_equal_points_have_distance_zero():
    assert mean_squared_distance(torch.full((40, 3), 0.3)).tolist() == [0] * 40


@pytest.mark.parametrize(
    "points",
    [
        cloud(70),
        torch.cat((cloud(40, 1e-3), cloud(20, 1e4))),
        torch.cat((torch.zeros(20, 3), cloud(30))),
        cloud(50) * torch.tensor([1.0, 0, 0]),
        cloud(60)[:, [2, 0, 1]].T.contiguous().T,
    ],
    ids=["cube", "clusters", "duplicates", "line", "strided"],
)
def test_kernel_is_exact(points):
    result = mean_squared_distance(points)

    assert rocm3d_kernels.last_dispatch().implementation == "triton"
    torch.testing.assert_close(result.double(), exact(points), rtol=1e-5, atol=0)


@given(some.lists(some.tuples(*[some.integers(-3, 3)] * 3), min_size=4, max_size=24))
def test_kernel_is_exact_on_a_lattice(points):
    """Many ties and equal points; with small integers only the mean is rounded."""
    result = mean_squared_distance(torch.tensor(points, dtype=torch.float32))

    torch.testing.assert_close(result.double(), exact(torch.tensor(points)), rtol=1e-6, atol=0)


def test_reference_equals_all_pairs():
    points = cloud(1500).double()

    torch.testing.assert_close(reference.mean_squared_distance(points), exact(points))


def test_result_has_no_gradient():
    assert not mean_squared_distance(cloud(5).requires_grad_()).requires_grad


@pytest.mark.usefixtures("reference_on_cpu")
def test_operator_passes_opcheck():
    torch.library.opcheck(torch.ops.rocm3d_kernels.knn.default, (cloud(9),))
