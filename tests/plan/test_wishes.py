from __future__ import annotations

import pytest

from rocm3d.model.failure import UserError
from rocm3d.plan.wishes import Wishes


@pytest.mark.parametrize("text", ["newest", ">>7", "7.x", "6.4 or 7"])
def test_what_is_neither_release_nor_range_is_refused(text):
    with pytest.raises(UserError, match="not a release or a range"):
        Wishes(rocm=text)


@pytest.mark.parametrize("wish", [{"stack": "s"}, {"rocm": "7.2"}])
def test_the_installed_torch_leaves_no_choice(make, wish):
    with pytest.raises(UserError, match="--keep-torch excludes"):
        Wishes(installed=make.stack("installed"), **wish)


@pytest.mark.parametrize(
    ("asked", "release", "taken"),
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
def test_releases(asked, release, taken):
    assert Wishes(rocm=asked).takes_rocm(release) is taken
