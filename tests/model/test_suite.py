from __future__ import annotations

import pytest
from pydantic import ValidationError

from rocm3d.model.suite import Suite

FACT = {"checked": "2026-11-15", "confidence": "inferred", "sources": [{"where": "somewhere"}]}


def test_empty_suite_is_refused():
    with pytest.raises(ValidationError, match="needs packages or probes"):
        Suite(id="empty", title="Empty", **FACT)


@pytest.mark.parametrize("name", ["../evil", "torch.py", "Torch", "a-b"])
def test_a_probe_is_named_by_the_stem_of_a_file(name):
    with pytest.raises(ValidationError):
        Suite(id="s", title="S", probes=[{"probe": name, "modules": ["m"]}], **FACT)


def test_probe_needs_a_module():
    with pytest.raises(ValidationError):
        Suite(id="s", title="S", probes=[{"probe": "p", "modules": []}], **FACT)
