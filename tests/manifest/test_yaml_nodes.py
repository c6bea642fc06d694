from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.yaml_nodes import YamlText

BOMB = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 40))


def test_pairs_and_items_with_places():
    yaml = YamlText("a:\n  - b # c\n  - 'd'\ne: 1\n")
    (first, values), (second, _) = yaml.pairs(yaml.root)
    assert [(key.text, key.line, key.column) for key in (first, second)] == [("a", 1, 1), ("e", 4, 1)]
    scalars = [yaml.scalar(item) for item in yaml.items(values)]
    assert [(item.text, item.line, item.column, item.style) for item in scalars] == [("b", 2, 5, ""), ("d", 3, 5, "'")]


def test_line_ends_that_only_yaml_knows_do_not_shift_lines():
    yaml = YamlText("# a\u2028# b\x85\nk: v\n")
    assert [(key.line, key.column) for key, _ in yaml.walk()] == [(2, 1)]


def test_a_bomb_of_aliases_is_walked_once():
    assert len(list(YamlText(BOMB).walk())) == 40


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "- " * 100_000,
        "? " * 9000,
        "{a: " * 5000,
        "a: " * 3,
        "{a: b",
        "\t- x",
        "&a [*a, *b]",
        "%YAML 9.9\n--- x",
    ],
)
def test_what_cannot_be_read_says_why(text):
    yaml = YamlText(text)
    assert yaml.root is None
    assert yaml.problem
    assert list(yaml.walk()) == []


def test_anchors_given_twice_are_survived_in_silence():
    assert YamlText("- &a b\n- &a c\n").problem == ""


def test_a_cycle_ends():
    assert len(list(YamlText("a: &x\n  b: *x\n").walk())) == 2


def test_no_tag_is_obeyed():
    yaml = YamlText("a: !!python/object/apply:os.system ['touch ran']\n")
    assert [key.text for key, _ in yaml.walk()] == ["a"]


def test_too_large_a_file_is_not_read():
    assert "too large" in YamlText("a: b\n" * 60_001).problem


@given(st.text(max_size=200))
def test_any_text_is_survived(text):
    yaml = YamlText(text)
    assert all(key.line >= 1 and key.column >= 1 for key, _ in yaml.walk())


def test_half_a_character_is_replaced():
    """Regression: a lone surrogate cannot be written to a document and aborted the scan."""
    yaml = YamlText('"a\\ud800": "\\udfff"\n')
    assert [("a?", "?")] == [(key.text, yaml.scalar(value).text) for key, value in yaml.walk()]
