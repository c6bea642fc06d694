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


@pytest.mark.parametrize("content", [None, b"", b"mmg p", b"MMGP"])
def test_a_fork_without_its_text_is_the_original(knowledge, content):
    base, (first, two, _) = knowledge
    ports = {
        **base.ports,
        two: base.ports[two].model_copy(update={"marks": ("a.py",), "mark_texts": {"r.txt": "mmgp"}}),
    }

    assert recognised_port(["b/c.py", "a.py", "r.txt"], replace(base, ports=ports), {"r.txt": content}.get) == first


def test_a_fork_differs_by_a_text(knowledge):
    base, (first, two, _) = knowledge
    ports = {**base.ports, two: base.ports[first].model_copy(update={"id": two, "mark_texts": {"r.txt": "mmgp"}})}
    known = replace(base, ports=ports)

    assert recognised_port(["b/c.py", "a.py", "r.txt"], known, {"r.txt": b"a\nmmgp==3\n"}.get) == two
    assert recognised_port(["b/c.py", "a.py"], known, {"r.txt": b"a\nmmgp==3\n"}.get) == first


@pytest.mark.parametrize("name", ["hunyuan3d-2gp", "openpi", "trisplat", "zipsplat"])
def test_shipped_ports_have_marks(name):
    port = load().ports[name]
    texts = {path: text.encode() for path, text in port.mark_texts.items()}

    assert recognised_port((*port.marks, *texts), load(), texts.get) == name
