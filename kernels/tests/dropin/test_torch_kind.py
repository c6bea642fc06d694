from __future__ import annotations

import pytest
import torch

from rocm3d_kernels.dropin import torch_kind


@pytest.mark.parametrize("text", ["cuda = (", "\0", "cuda = compute()"])
def test_a_file_that_says_nothing_says_nothing(tmp_path, text):
    (tmp_path / "version.py").write_text(text)

    assert torch_kind.read(tmp_path / "version.py") == {}
    assert torch_kind.read(tmp_path / "none.py") == {}


def test_assignments_are_read_with_and_without_a_type(tmp_path):
    (tmp_path / "version.py").write_text("from x import y\ncuda: Optional[str] = None\nhip = '7.1'\n")

    assert torch_kind.read(tmp_path / "version.py") == {"cuda": None, "hip": "7.1"}


def test_the_torch_of_the_tests_is_what_it_says_it_is(python):
    wanted = "hip" if torch.version.hip else "cuda" if torch.version.cuda else "cpu"

    assert torch_kind.kind() == wanted
    assert python("from rocm3d_kernels.dropin.torch_kind import kind; print(kind())") == wanted
