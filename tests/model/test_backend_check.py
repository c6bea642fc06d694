from __future__ import annotations

import pytest
from pydantic import ValidationError

from rocm3d.model.backend_check import BackendCheck, Smoke, SuiteChecks


@pytest.mark.parametrize(
    "answer",
    ['{"probe": "p"}', '{"probe": "p", "outcome": "splendid"}', '{"probe": "p", "outcome": "absent", "x": 1}', "[]"],
)
def test_invalid_outcome_is_refused(answer):
    with pytest.raises(ValidationError):
        BackendCheck.model_validate_json(answer)


def test_two_packages_may_share_a_probe():
    check = BackendCheck(probe="deformable_attention", outcome="absent")

    assert (check.label, check.model_copy(update={"package": "groundingdino"}).label) == (
        "deformable_attention",
        "groundingdino",
    )


def test_backend_checks_of_all_suites():
    checks = [BackendCheck(probe=name, outcome="absent") for name in "ab"]
    suites = tuple(SuiteChecks(suite=check.probe, title="t", looks=(check,)) for check in checks)

    assert Smoke(machine="m", interpreter="i", knowledge_date="d", suites=suites).backend_checks == tuple(checks)
