from __future__ import annotations

from dataclasses import replace

import pytest

from rocm3d.knowledge.load import load
from rocm3d.scan.recognition import known_as


@pytest.fixture(scope="module")
def knowledge():
    """Three test ports with marks."""
    base = load()
    one, two, three, *_ = sorted(base.ports)
    marks = {one: ("a.py", "b/c.py"), two: ("a.py", "b/c.py", "d.py"), three: ()}
    ports = {name: base.ports[name].model_copy(update={"marks": own}) for name, own in marks.items()}
    return replace(base, ports=ports), (one, two, three)


@pytest.mark.parametrize("paths", [[], ["a.py"], ["x/a.py", "x/b/c.py"], ["A.py", "b/c.py"]])
def test_nothing_is_known_by_some_of_its_marks(knowledge, paths):
    assert known_as(paths, knowledge[0]) is None


def test_all_marks_and_the_most_of_them(knowledge):
    base, (one, two, _) = knowledge

    assert known_as(["b/c.py", "a.py", "z.py"], base) == one
    assert known_as(["b/c.py", "a.py", "d.py"], base) == two
