from __future__ import annotations

import pickle

from rocm3d.knowledge.shelf import Shelf


def shelf(asked: list[int]) -> Shelf[str, int]:
    def read():
        asked.append(1)
        return {"b": 2, "a": 1}

    return Shelf(read)


def test_nothing_is_read_before_it_is_asked_for_and_then_once():
    asked: list[int] = []
    held = shelf(asked)

    assert asked == []
    assert (held["a"], len(held), "b" in held, "c" in held) == (1, 2, True, False)
    assert asked == [1]


def test_it_is_the_dictionary_in_its_order():
    held = shelf([])

    assert list(held) == list(held.keys()) == ["b", "a"]
    assert list(held.values()) == [2, 1]
    assert list(held.items()) == [("b", 2), ("a", 1)]
    assert held == {"a": 1, "b": 2}
    assert held == shelf([])
    assert repr(held) == "{'b': 2, 'a': 1}"


def test_pickled_it_is_that_dictionary():
    assert pickle.loads(pickle.dumps(shelf([]))) == {"b": 2, "a": 1}
