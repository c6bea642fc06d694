from __future__ import annotations

import pytest

from rocm3d.model.errors import UserError
from rocm3d.plan.stacks import PlanOptions


@pytest.mark.parametrize("text", ["newest", ">>7", "7.x", "6.4 or 7"])
def test_text_that_is_not_a_release_or_range_is_refused(text):
    with pytest.raises(UserError, match="not a release or a range"):
        PlanOptions(rocm=text)


@pytest.mark.parametrize("option", [{"stack": "s"}, {"rocm": "7.2"}])
def test_installed_torch_excludes_stack_and_rocm(make, option):
    with pytest.raises(UserError, match="--keep-torch excludes"):
        PlanOptions(installed=make.stack("installed"), **option)


@pytest.mark.parametrize(
    ("requested", "release", "chosen"),
    [
        ("", "7.2.1", True),
        ("7.2", "7.2.1", True),
        ("7.2", "7.2", True),
        ("7", "7.14.0", True),
        ("7.1", "7.14.0", False),
        (">=6.4,<7", "6.4.3", True),
        (">=6.4,<7", "7.0.0", False),
        ("==7.2.1", "7.2.1", True),
    ],
)
def test_accepted_releases(requested, release, chosen):
    assert PlanOptions(rocm=requested).accepts_rocm(release) is chosen
