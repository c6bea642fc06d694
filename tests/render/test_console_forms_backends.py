from __future__ import annotations

from rocm3d.model.backend_check import BackendCheck, ComparedTensor, NumericCheck
from rocm3d.render.console_forms import backend_details, backend_summary, tensor_line


def test_what_is_not_accelerated_gives_the_reason():
    assert backend_summary(BackendCheck(probe="p", outcome="broken", reason="died", libraries=("/a.so",))) == "died"


def test_what_is_accelerated_names_its_evidence():
    checks = (
        NumericCheck(name="a", tolerance="float32-gemm", agrees=True, max_error=0.001),
        NumericCheck(name="b", tolerance="int-exact", agrees=True, max_error=0),
        NumericCheck(name="c", agrees=True),
    )
    view = BackendCheck(
        probe="p", outcome="accelerated", libraries=("/x/_C.so", "/x/_D.so"), backends=("gsplat",), checks=checks
    )

    assert (
        backend_summary(view)
        == "_C.so and 1 more; kernels: gsplat; 3 results agree, largest error 0.001 (float32-gemm)"
    )
    assert (
        backend_summary(BackendCheck(probe="p", outcome="accelerated", checks=checks[2:]))
        == "1 results agree, largest error 0"
    )


def test_kinds_of_attention_and_the_device():
    kinds = {
        "flash": {"works": True, "backends": ["AOTriton"]},
        "cudnn": {"works": False, "reason": "no"},
        "math": {"works": True},
    }

    assert backend_details(BackendCheck(probe="p", outcome="accelerated", facts={"kinds": kinds})) == [
        "flash: works, AOTriton",
        "cudnn: not available: no",
        "math: works",
    ]
    facts = {"device": "NVIDIA H200", "architecture": "sm_90", "version": "2.9", "hip": None, "cuda": "12.8"}
    assert backend_details(BackendCheck(probe="p", outcome="accelerated", facts=facts)) == [
        "NVIDIA H200 (sm_90), 2.9, CUDA 12.8"
    ]


def test_a_tensor_of_two_recordings():
    equal = ComparedTensor(name="t", agrees=True, max_error=0.5, tolerance="float32-gemm", elements=3, dtype="float32")

    assert tensor_line(equal) == "largest error 0.5, within float32-gemm (3 elements of float32)"
    assert tensor_line(ComparedTensor(name="t", agrees=True, reason="is empty")) == "is empty"
    assert tensor_line(ComparedTensor(name="t", agrees=False, reason="differs", max_error=1.0)) == "differs"
