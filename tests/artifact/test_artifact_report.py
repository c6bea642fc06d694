from __future__ import annotations

from rocm3d.artifact.artifact_report import ArtifactReport


def test_only_what_is_wrong_is_a_problem():
    report = ArtifactReport("mesh")
    report.add_problem_if(0, "no")
    report.add_problem_if(1, "yes")

    assert report.problems == ["yes"]
