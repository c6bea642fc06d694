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
def test_a_wrong_product_is_broken(package, look, result):
    package("torch_sparse", library=True, __init__=PLAIN.format(result=result))

    assert look("torch_sparse", "torch_sparse")["outcome"] == "broken"


def test_the_right_product_and_gradient(package, look, agreeing):
    package("torch_sparse", library=True, __init__=PLAIN.format(result="self.dense @ other"))

    answer = look("torch_sparse", "torch_sparse")

    assert agreeing(answer) == ({"product", "gradient"}, set())
