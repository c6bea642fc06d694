from __future__ import annotations

import pytest

from rocm3d.model.backend_check import NumericCheck
from rocm3d.verify.backends.environment import backend_of_kernel, with_kernel_evidence

AGREES = (NumericCheck(name="c", agrees=True),)
COPY = "Memcpy HtoD (Pageable -> Device)"
TORCH = "void at::native::vectorized_elementwise_kernel<4, ...>"
INDEX = "void at::native::_scatter_gather_elementwise_kernel<128, 4, ...>"
RADIX = "void cub::DeviceRadixSortOnesweepKernel<...>"
SCATTER = "void segment_csr_kernel<float, (ReductionType)0, 1>(...)"
OWN = "void fancy_forward(float*, int)"
TRITON = "triton_fancy_kernel_0d1d2d"
AOTRITON = "attn_fwd.kd"


@pytest.mark.parametrize(
    ("evidence", "kernels", "reason"),
    [
        ("library", (COPY,), "only copies ran on the device"),
        ("device", (), "only copies ran on the device"),
        ("library", (COPY, INDEX, TORCH), "its library is loaded, but only kernels of other libraries ran"),
        ("library", (RADIX,), "its library is loaded, but only kernels of other libraries ran"),
        ("kernels", (TORCH,), "only kernels of plain torch ran"),
    ],
)
def test_kernels_of_other_libraries_mean_fallback(knowledge, make_check, evidence, kernels, reason):
    result = with_kernel_evidence(make_check(evidence=evidence, kernels=kernels, checks=AGREES), knowledge.backends)

    assert result.outcome == "fallback"
    assert result.reason.startswith(reason)


@pytest.mark.parametrize(
    ("evidence", "kernels"),
    [
        ("library", (TORCH, SCATTER)),
        ("library", (OWN, TORCH)),
        ("kernels", (AOTRITON,)),
        ("device", (TORCH,)),
        ("provider", ()),
        ("library", None),
    ],
)
def test_accelerated_stays_if_the_kernels_agree(knowledge, make_check, evidence, kernels):
    assert (
        with_kernel_evidence(make_check(evidence=evidence, kernels=kernels, checks=AGREES), knowledge.backends).outcome
        == "accelerated"
    )


@pytest.mark.parametrize(
    ("kernels", "outcome"), [((TRITON,), "accelerated"), ((OWN,), "fallback"), ((TORCH,), "fallback")]
)
def test_without_a_library_known_kernels_mean_accelerated(knowledge, make_check, kernels, outcome):
    """An unknown kernel proves nothing: it may belong to torch."""
    result = with_kernel_evidence(
        make_check("fallback", reason="no library", evidence="library", kernels=kernels, checks=AGREES),
        knowledge.backends,
    )

    assert result.outcome == outcome


@pytest.mark.parametrize("outcome", ["broken", "absent", "not_run"])
def test_other_outcomes_are_unchanged(knowledge, make_check, outcome):
    result = with_kernel_evidence(
        make_check(outcome, reason="r", evidence="library", kernels=(COPY,), checks=AGREES), knowledge.backends
    )

    assert (result.outcome, result.reason) == (outcome, "r")


def test_without_a_profile_a_check_by_kernels_is_not_run(knowledge, make_check):
    facts = {"gpu": True, "profile": "no profile: forbidden"}
    result = with_kernel_evidence(
        make_check(evidence="kernels", kernels=None, checks=AGREES, facts=facts), knowledge.backends
    )

    assert (result.outcome, result.reason) == ("not_run", "the kernels that ran are unknown: no profile: forbidden")


def test_backends_are_named_for_the_default_and_for_each_kind(knowledge, make_check):
    kinds = {"flash": {"works": True, "kernels": [AOTRITON]}, "math": {"works": False, "reason": "no"}}
    result = with_kernel_evidence(
        make_check(evidence="kernels", kernels=(AOTRITON,), checks=AGREES, facts={"kinds": kinds}), knowledge.backends
    )

    assert result.backends[0].startswith("AOTriton")
    assert result.facts["kinds"]["flash"]["backends"] == result.backends
    assert result.facts["kinds"]["math"] == {"works": False, "reason": "no"}


def test_the_first_pattern_wins(knowledge):
    assert backend_of_kernel("pytorch_flash::flash_fwd_kernel", knowledge.backends.values()).id == "sdpa-flash-cuda"
    assert backend_of_kernel("nobody_knows_me", knowledge.backends.values()) is None
