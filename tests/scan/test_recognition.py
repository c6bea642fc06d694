from __future__ import annotations

from dataclasses import replace

import pytest

from rocm3d.knowledge.load import load
from rocm3d.scan.recognition import recognised_port


@pytest.fixture(scope="module")
def knowledge():
    """Three test ports with marks."""
    base = load()
    first, two, three, *_ = sorted(base.ports)
    marks = {first: ("a.py", "b/c.py"), two: ("a.py", "b/c.py", "d.py"), three: ()}
    ports = {name: base.ports[name].model_copy(update={"marks": own}) for name, own in marks.items()}
    return replace(base, ports=ports), (first, two, three)


@pytest.mark.parametrize("paths", [[], ["a.py"], ["x/a.py", "x/b/c.py"], ["A.py", "b/c.py"]])
def test_some_marks_are_not_enough(knowledge, paths):
    assert recognised_port(paths, knowledge[0]) is None


def test_port_with_most_marks_wins(knowledge):
    base, (first, two, _) = knowledge

    assert recognised_port(["b/c.py", "a.py", "z.py"], base) == first
    assert recognised_port(["b/c.py", "a.py", "d.py"], base) == two
