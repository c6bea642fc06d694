from __future__ import annotations

import pytest
from pydantic import ValidationError

from rocm3d.model.condition import Condition

RECORD = {
    "id": "some-condition", "title": "x", "severity": "warning", "test": "x", "why": "x", "remedy": ("x",),
    "check": "x", "checked": "2026-11-15", "confidence": "inferred", "sources": ({"where": "a document"},),
}  # fmt: skip


@pytest.mark.parametrize(
    "changes",
    [
        {"reboot": True},
        {"remedy": ()},
        {"severity": "fatal"},
        {"sources": ()},
        {"rocm": "about 7"},
        {"gfx": ("mi300x",)},
    ],
)
def test_incomplete_or_inconsistent_record_is_refused(changes):
    with pytest.raises(ValidationError):
        Condition.model_validate({**RECORD, **changes})


def test_reboot_with_root_is_accepted():
    assert Condition.model_validate({**RECORD, "reboot": True, "root": True}).reboot
