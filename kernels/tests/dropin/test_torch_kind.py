from __future__ import annotations

import pytest
import torch

from rocm3d_kernels.dropin import torch_kind


@pytest.mark.parametrize("text", ["cuda = (", "\0", "cuda = compute()"])
def test_unreadable_file_has_no_constants(tmp_path, text):
    (tmp_path / "version.py").write_text(text)

    assert torch_kind.read_constants(tmp_path / "version.py") == {}
    assert torch_kind.read_constants(tmp_path / "none.py") == {}


def test_assignments_are_read_with_and_without_annotation(tmp_path):
    (tmp_path / "version.py").write_text("from x import y\ncuda: Optional[str] = None\nhip = '7.1'\n")

    assert torch_kind.read_constants(tmp_path / "version.py") == {"cuda": None, "hip": "7.1"}


def test_kind_of_the_installed_torch(python):
    expected = "hip" if torch.version.hip else "cuda" if torch.version.cuda else "cpu"

    assert torch_kind.kind() == expected
    assert python("from rocm3d_kernels.dropin.torch_kind import kind; print(kind())") == expected
