from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.manifest import UnreadableManifestError
from rocm3d.manifest.yaml_nodes import YamlText

BOMB = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 40))


def test_pairs_and_items_with_positions():
    yaml = YamlText("a:\n  - b # c\n  - 'd'\ne: 1\n")
    (first, values), (second, _) = yaml.pairs(yaml.root)
    assert [(key.text, key.line, key.column) for key in (first, second)] == [("a", 1, 1), ("e", 4, 1)]
    scalars = [yaml.scalar(entry) for entry in yaml.items(values)]
    assert [(entry.text, entry.line, entry.column, entry.style) for entry in scalars] == [
        ("b", 2, 5, ""),
        ("d", 3, 5, "'"),
    ]


def test_yaml_line_ends_do_not_shift_lines():
    yaml = YamlText("# a\u2028# b\x85\nk: v\n")
    assert [(key.line, key.column) for key, _ in yaml.walk()] == [(2, 1)]


def test_nested_aliases_are_walked_once():
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
def test_problem_of_unreadable_file(text):
    with pytest.raises(UnreadableManifestError):
        list(YamlText(text).walk())


def test_duplicate_anchors_give_no_warning():
    yaml = YamlText("- &a b\n- &a c\n")

    assert [scalar.text for scalar in yaml.scalars(yaml.root)] == ["b", "c"]


def test_cycle_terminates():
    assert len(list(YamlText("a: &x\n  b: *x\n").walk())) == 2


def test_tags_create_no_objects():
    yaml = YamlText("a: !!python/object/apply:os.system ['touch ran']\n")
    assert [key.text for key, _ in yaml.walk()] == ["a"]


def test_too_large_file_is_not_read():
    with pytest.raises(UnreadableManifestError, match="too large"):
        list(YamlText("a: b\n" * 60_001).walk())


@given(st.text(max_size=200))
def test_any_text_raises_no_other_error(text):
    with suppress(UnreadableManifestError):
        assert all(key.line >= 1 and key.column >= 1 for key, _ in YamlText(text).walk())


def test_lone_surrogate_is_replaced():
    """Regression: a lone surrogate cannot be written to a document and aborted the scan."""
    yaml = YamlText('"a\\ud800": "\\udfff"\n')
    assert [("a?", "?")] == [(key.text, yaml.scalar(value).text) for key, value in yaml.walk()]
