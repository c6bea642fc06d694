"""Planning jobs for many repositories."""

from __future__ import annotations

import pytest

from rocm3d.model.errors import UserError
from rocm3d.pipeline.jobs import campaign, find_repositories, planning_jobs


def test_a_folder_without_repositories_is_refused(tmp_path):
    with pytest.raises(UserError, match="contains no repository"):
        list(find_repositories([tmp_path]))
    with pytest.raises(UserError, match="is not a folder"):
        list(find_repositories([tmp_path / "nowhere"]))


def test_a_repository_or_the_repositories_of_a_folder(tmp_path):
    for name in ("many/a", "many/b", "many/.cache", "one/.git", "one/src"):
        (tmp_path / name).mkdir(parents=True)
    result = list(find_repositories([tmp_path / "many", tmp_path / "one"]))
    assert [path.name for path in result] == ["a", "b", "one"]


def test_two_repositories_of_one_name_are_two_jobs(tmp_path):
    for name in ("x/same", "y/same"):
        (tmp_path / name).mkdir(parents=True)
    requested = planning_jobs([tmp_path / "x", tmp_path / "y"], "mi300x", 2)
    assert len({job.id for job in requested.jobs.jobs}) == 2
    assert all(job.success == (0, 1) for job in requested.jobs.jobs)
    assert requested.folder.root == (tmp_path / ".rocm3d" / "jobs" / "matrix").resolve()


def test_knowledge_is_not_loaded_without_a_gpu(tmp_path):
    path = tmp_path / "jobs.toml"
    path.write_text('[run]\nslots = 1\ngpus = []\n[[job]]\nid = "a"\ncommand = ["true"]\n')
    loaded: list[int] = []
    assert campaign(path, None, lambda: loaded.append(1)).run().counts == {"done": 1}
    assert loaded == []
