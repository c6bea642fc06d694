from __future__ import annotations

from rocm3d.model.backend_check import ComparedTensor, GoldenComparison


def comparison(*agrees: bool) -> GoldenComparison:
    tensors = tuple(ComparedTensor(name="t", agrees=item) for item in agrees)
    return GoldenComparison(reference="a", candidate="b", tensors=tensors)


def test_no_tensors_do_not_agree():
    assert comparison().agrees is False


def test_one_different_tensor_is_enough():
    assert comparison(True, False).agrees is False
    assert comparison(True, True).agrees is True
