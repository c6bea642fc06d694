from __future__ import annotations

import pickle

from rocm3d.knowledge.load import LazyMapping


def lazy_mapping(reads: list[int]) -> LazyMapping[str, int]:
    def read():
        reads.append(1)
        return {"b": 2, "a": 1}

    return LazyMapping(read)


def test_mapping_is_read_once_on_first_use():
    reads: list[int] = []
    held = lazy_mapping(reads)

    assert reads == []
    assert (held["a"], len(held), "b" in held, "c" in held) == (1, 2, True, False)
    assert reads == [1]


def test_mapping_equals_the_dictionary():
    held = lazy_mapping([])

    assert list(held) == list(held.keys()) == ["b", "a"]
    assert list(held.values()) == [2, 1]
    assert list(held.items()) == [("b", 2), ("a", 1)]
    assert held == {"a": 1, "b": 2}
    assert held == lazy_mapping([])
    assert repr(held) == "{'b': 2, 'a': 1}"


def test_pickled_mapping_is_a_dictionary():
    assert pickle.loads(pickle.dumps(lazy_mapping([]))) == {"b": 2, "a": 1}
