"""Loading records: errors with file and key, and the overlay."""

from __future__ import annotations

import re
import shutil
from datetime import date

import pytest

from rocm3d.knowledge.load import FOLDERS, TABLES, data_folder, load
from rocm3d.model.errors import UserError


def assert_refused(overlay, start: str) -> UserError:
    """Asserts that loading fails with one line that starts with the file."""
    with pytest.raises(UserError, match="^" + re.escape(start)) as failure:
        overlay.load()
    assert "\n" not in failure.value.message
    return failure.value


@pytest.mark.parametrize("name", ["nowhere", "file"])
def test_overlay_that_is_not_a_folder_is_refused(tmp_path, name):
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match=f"--knowledge .*{name} is not a folder"):
        load(tmp_path / name)


@pytest.mark.parametrize("path", ["families/f.toml", "release.toml", "rules/odd/r/rule.toml"])
@pytest.mark.parametrize("text", ["a = \n", b"\xff\xfe", pytest.param("a = " + "[" * 20_000, id="deep")])
def test_broken_toml_is_refused_by_file(overlay, path, text):
    assert_refused(overlay.put(path, text), f"mine/{path}: ")


def test_syntax_error_names_its_line(overlay):
    assert (
        "line 2"
        in assert_refused(overlay.put("families/f.toml", 'id = "f"\ntitle = \n'), "mine/families/f.toml: ").message
    )


def test_unknown_key_is_refused_by_file_and_key(overlay):
    overlay.family()
    file_path = overlay.folder / "families" / "fam.toml"
    file_path.write_text('colour = "red"\n' + file_path.read_text())
    assert_refused(overlay, "mine/families/fam.toml: colour: ")


def test_unknown_key_in_a_route_is_refused_by_its_path(overlay):
    overlay.package("p")
    file_path = overlay.folder / "packages" / "p.toml"
    file_path.write_text(file_path.read_text() + 'colour = "red"\n')
    assert_refused(overlay, "mine/packages/p.toml: routes.0.colour: ")


def test_missing_key_is_refused_by_file_and_key(overlay):
    overlay.family()
    file_path = overlay.folder / "families" / "fam.toml"
    file_path.write_text(file_path.read_text().replace('fails_by = "f"\n', ""))
    assert_refused(overlay, "mine/families/fam.toml: fails_by: ")


def test_several_faults_are_counted(overlay):
    result = assert_refused(overlay.put("families/f.toml", 'id = "f"\n'), "mine/families/f.toml: checked: ")
    assert re.search(r"\(and \d more\)$", result.message)


def test_record_in_a_file_of_another_name_is_refused(overlay):
    overlay.family()
    (overlay.folder / "families" / "fam.toml").rename(overlay.folder / "families" / "other.toml")
    assert_refused(overlay, "mine/families/other.toml: id: 'fam' does not match the file name 'other'")


def test_target_in_a_file_of_another_name_is_refused(overlay):
    overlay.target("gfx999", "mi999x")
    (overlay.folder / "targets" / "gfx999.toml").rename(overlay.folder / "targets" / "mi999x.toml")
    assert_refused(overlay, "mine/targets/mi999x.toml: gfx: 'gfx999' does not match the file name 'mi999x'")


def test_rule_in_a_folder_of_another_name_is_refused(overlay):
    overlay.codes({})
    (overlay.folder / "rules" / "odd" / "odd_thing").rename(overlay.folder / "rules" / "odd" / "wrong")
    assert_refused(overlay, "mine/rules/odd/wrong/rule.toml: rule: 'odd_thing' does not match its folder")


def test_code_of_two_rules_is_refused(overlay):
    overlay.codes({}, {"rule": "other_thing"})
    assert_refused(overlay, "mine/rules/odd/other_thing/rule.toml: NUM901 is also in odd_thing")


def test_fix_of_two_rules_is_refused(overlay):
    overlay.codes({}, {"code": "NUM902", "rule": "other_thing"}).fix("r").fix("r", "more/other_thing")
    assert_refused(overlay, "mine/rules/odd/odd_thing/rule.toml: r is also in other_thing")


@pytest.mark.parametrize("path", ["codes.toml", "recipes/fam/r/recipe.toml"])
def test_the_former_layout_is_refused_with_the_new_one(overlay, path):
    message = assert_refused(overlay.put(path, ""), str(overlay.folder)).message
    assert "write rules to rules/GROUP/RULE/rule.toml" in message


@pytest.mark.parametrize("code", ["XYZ101", "CU1", "cu101", "CU1011"])
def test_invalid_code_is_refused(overlay, code):
    assert_refused(overlay.codes({"code": code}), "mine/rules/more/odd_thing/rule.toml: code: ")


def test_overlay_named_by_a_dot_still_names_its_files(overlay, monkeypatch):
    overlay.put("families/f.toml", "a = \n")
    monkeypatch.chdir(overlay.folder)
    with pytest.raises(UserError) as failure:
        load(type(overlay.folder)())
    assert not failure.value.message.startswith("/")


def test_shipped_knowledge_loads_and_knows_its_files(knowledge):
    assert knowledge.families["gaussian"].id == "gaussian"
    assert knowledge.places["families", "gaussian"] == "knowledge/families/gaussian.toml"
    assert isinstance(knowledge.date, date)
    assert (data_folder() / "release.toml").is_file()
    kinds = (*FOLDERS, *TABLES, "codes", "recipes")
    assert set(knowledge.places) == {(kind, name) for kind in kinds for name in getattr(knowledge, kind)}


def test_empty_overlay_changes_nothing(overlay):
    assert overlay.load() == load()


def test_overlay_adds_a_record_of_each_kind(overlay, knowledge):
    overlay.family().package("p").target("gfx999", "mi999x").stack("s", ["gfx999"]).codes({}).fix("r")
    result = overlay.load()
    for kind, name in (
        ("families", "fam"), ("packages", "p"), ("targets", "gfx999"), ("stacks", "s"), ("codes", "NUM901"),
        ("recipes", "r"),
    ):  # fmt: skip
        assert set(getattr(result, kind)) == {*getattr(knowledge, kind), name}
        assert result.places[kind, name].startswith("mine/")
    assert result.places["recipes", "r"] == "mine/rules/odd/odd_thing/rule.toml"
    assert result.date == knowledge.date


def test_overlay_replaces_a_record_and_leaves_the_others(overlay, knowledge):
    result = overlay.family("gaussian").load()
    assert result.families["gaussian"].title == "t"
    assert result.places["families", "gaussian"] == "mine/families/gaussian.toml"
    assert result.families["attention"] == knowledge.families["attention"]
    assert result.places["families", "attention"] == knowledge.places["families", "attention"]


def test_overlay_replaces_one_code_and_leaves_the_others(overlay, knowledge):
    name = next(iter(knowledge.codes))
    result = overlay.codes({"code": name}).load()
    assert result.codes[name].rule == "odd_thing"
    assert {**result.codes, name: None} == {**knowledge.codes, name: None}


def test_overlay_can_have_its_own_date(overlay):
    assert overlay.put("release.toml", "date = 2030-01-02\n").load().date == date(2030, 1, 2)


def test_examples_of_a_recipe_are_read(overlay):
    example = overlay.codes({}).fix("r").load().examples["r"]
    assert (example.name, example.before, example.after, example.untouched) == (
        "example.py", b"# r before\n", b"# r after\n", b"# r untouched\n",
    )  # fmt: skip


def test_rule_that_replaces_another_does_not_keep_its_cases(overlay, knowledge):
    shipped = next(rule for rule in knowledge.codes.values() if rule.fix is not None)
    overlay.codes({"code": shipped.code, "rule": shipped.rule}).fix(shipped.fix.id, f"more/{shipped.rule}")
    shutil.rmtree(overlay.folder / "rules" / "more" / shipped.rule / "cases")

    assert shipped.fix.id not in overlay.load().examples


def test_records_are_in_the_order_of_their_names(overlay):
    result = overlay.package("zz").package("aa").family("zz").load()
    assert list(result.packages) == sorted(result.packages)
    assert list(result.families) == sorted(result.families)
    assert list(result.codes) == sorted(result.codes)


def test_rule_of_the_overlay_replaces_the_shipped_rule_with_its_fix(overlay, knowledge):
    shipped = next(rule for rule in knowledge.codes.values() if rule.fix is not None)
    overlay.codes({"code": shipped.code, "rule": shipped.rule})

    assert overlay.load().recipe_for(shipped.code) is None
    assert overlay.load().codes[shipped.code].message == "m"
