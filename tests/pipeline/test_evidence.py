from __future__ import annotations

import pytest

from rocm3d.model.errors import UserError
from rocm3d.pipeline.evidence import check_bundle, compare_bundles, support_matrix
from rocm3d.repository import Repository


def test_a_folder_that_is_no_bundle_is_refused(tmp_path):
    with pytest.raises(UserError):
        check_bundle(tmp_path)
    with pytest.raises(UserError):
        compare_bundles(tmp_path, tmp_path)


def test_a_folder_that_nobody_scanned_is_refused(tmp_path, knowledge):
    with pytest.raises(UserError, match="has no inventory"):
        support_matrix([tmp_path], knowledge.packages)


def test_scanned_repositories_become_columns(example, knowledge):
    root = example("splat-trainer")
    Repository(root, knowledge).scan()

    assert ["splat-trainer"] == [column.repository for column in support_matrix([root], knowledge.packages).columns]
