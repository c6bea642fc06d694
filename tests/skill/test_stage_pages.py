from __future__ import annotations

import pytest

from rocm3d.skill.stage import PAGE_KINDS, record_page, render_template


def test_unknown_field_is_an_error():
    with pytest.raises(Exception, match="has no attribute"):
        render_template("families.md", record=object(), knowledge=None)


@pytest.mark.parametrize("kind", PAGE_KINDS)
def test_every_record_has_a_page_with_its_sources(knowledge, kind):
    for name, record in getattr(knowledge, kind).items():
        text = record_page(kind, name, knowledge)

        assert text.lstrip().startswith("# ")
        assert record.sources[0].where in text
        assert str(record.checked) in text


def test_cells_do_not_break_their_table(knowledge):
    text = render_template("reference.md", family=knowledge.families["attention"], knowledge=knowledge)
    rows = [line for line in text.splitlines() if line.startswith("| ")]

    assert rows
    assert {row.replace("\\|", "").count("|") for row in rows if row.count("|") > 5} == {6}
