from __future__ import annotations

import pytest

PLAIN = """
class SparseTensor:
    @classmethod
    def from_dense(cls, dense):
        made = cls()
        made.dense = dense
        return made
    def __matmul__(self, other):
        return {result}
"""


@pytest.mark.parametrize(
    "result", ["0 * (self.dense @ other)", "self.dense.abs() @ other", "(self.dense @ other).half()"]
)
def test_a_wrong_product_is_broken(package, run_probe, result):
    package("torch_sparse", library=True, __init__=PLAIN.format(result=result))

    assert run_probe("torch_sparse", "torch_sparse")["outcome"] == "broken"


def test_the_right_product_and_gradient(package, run_probe, checks_by_result):
    package("torch_sparse", library=True, __init__=PLAIN.format(result="self.dense @ other"))

    answer = run_probe("torch_sparse", "torch_sparse")

    assert checks_by_result(answer) == ({"product", "gradient"}, set())
