from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import same
import same_output

from rocm3d.model.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
FINDING = {"code": "CU101", "severity": "error", "line": 38, "message": "a mask", "hint": "widen it", "package": None}
RESULT = {"ruleId": "CU101", "message": {"text": "a mask"}, "partialFingerprints": {"rocm3dFinding/v1": "0123"}}
ADDED = {"path": "rocm-port/README.md", "kind": "added", "before": None, "after": "01", "diff": "+a", "recipes": []}
EDITED = {"path": "setup.py", "kind": "edited", "before": "00", "after": "01", "diff": "+a", "recipes": ["gate"]}
PATCH = b"""From 0000 Mon Sep 17 00:00:00 2001
Subject: [PATCH] Build and run with ROCm

Every edit is guarded:
- setup.py: gate
---

diff --git a/rocm-port/README.md b/rocm-port/README.md
+prose
diff --git a/setup.py b/setup.py
+code
"""


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "input" / "target"
    folder.mkdir(parents=True)
    (folder / "setup.py").write_text("setup()\n", encoding="utf-8")
    return folder


@pytest.fixture
def copied_checkout(tmp_path):
    """This checkout's sources, with their compiled modules, and records."""
    for name in ("src", "knowledge"):
        shutil.copytree(ROOT / name, tmp_path / "copy" / name, ignore=shutil.ignore_patterns("*.pyc.*"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path / "copy")
    return tmp_path / "copy"


def replace_once(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def error_line(capsys) -> str:
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--only", "no-such"], "--only no-such: neither an example nor a repository of same.toml"),
        ([], "repositories need --mirrors DIR; --examples-only compares without them"),
        (["--only", "point-e", "--examples-only"], "--only point-e: neither an example nor a repository of same.toml"),
        (["--mirrors", "/no/such"], "--mirrors /no/such is not a folder"),
    ],
)
def test_bad_usage_is_one_line_and_2(options, line, capsys):
    assert same.main([str(ROOT), str(ROOT), *options]) == 2
    assert error_line(capsys) == line


def test_an_unknown_gpu_is_refused(capsys):
    assert same.main([str(ROOT), str(ROOT), "--examples-only", "--gpu", "mi3000y"]) == 2
    assert error_line(capsys).startswith("unknown GPU 'mi3000y'")


def test_a_folder_that_is_no_checkout_is_refused(tmp_path, capsys):
    assert same.main([str(ROOT), str(tmp_path), "--examples-only"]) == 2
    assert error_line(capsys).startswith(f"{tmp_path} is not a checkout of rocm3d")


def test_a_checkout_is_refused_where_an_installed_rocm3d_would_run(tmp_path):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)

    with pytest.raises(UserError, match="does not import rocm3d from"):
        same.Checkout.at(tmp_path, tmp_path)


def test_a_repository_without_a_mirror_is_not_compared_and_4(tmp_path, capsys):
    assert same.main([str(ROOT), str(ROOT), "--only", "openai/point-e", "--mirrors", str(tmp_path)]) == 4
    assert "not compared: openai/point-e: " in capsys.readouterr().out


def compared(monkeypatch, tmp_path, first, second) -> same.Result:
    """Of two checkouts whose commands are these functions of a workspace."""
    commands = {"before": first, "after": second}
    monkeypatch.setattr(same, "run_commands", lambda checkout, source, workspace, gpus: commands[checkout](workspace))
    monkeypatch.setattr(same.Input, "extract", lambda *_: None)
    return same.compare(same.Input("target"), ["before", "after"], None, ["mi300x"], tmp_path)


def fail(workspace: Path) -> None:
    raise same.CommandError("rocm3d scan source/target: exit 3")


def test_a_command_that_fails_on_both_sides_is_no_sameness(monkeypatch, tmp_path, source):
    result = compared(monkeypatch, tmp_path, fail, fail)

    assert (result.differences, result.obstacle) == ((), "both checkouts fail: rocm3d scan source/target: exit 3")


def test_a_command_that_fails_on_one_side_is_a_difference(monkeypatch, tmp_path, source):
    result = compared(monkeypatch, tmp_path, lambda workspace: (workspace / "documents").mkdir(), fail)

    assert result.differences == ("rocm3d scan source/target: exit 3", "documents: only before")


def test_an_undo_that_is_no_identity_is_a_difference_even_where_both_sides_agree(monkeypatch, tmp_path, source):
    def leaves_a_folder(workspace: Path) -> None:
        shutil.copytree(source, workspace / "undone-mi300x" / "target")
        (workspace / "undone-mi300x" / "target" / "rocm-port").mkdir()

    result = compared(monkeypatch, tmp_path, leaves_a_folder, leaves_a_folder)

    assert result.differences == tuple(
        f"{side}: undone-mi300x differs from input: ['rocm-port']" for side in ("before", "after")
    )


@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        ({"severity": "note"}, '$.findings[0 CU101].severity: "error" -> "note"'),
        ({"code": "CU102"}, '$.findings[0 CU101].code: "CU101" -> "CU102"'),
        ({"line": 38.0}, "$.findings[0 CU101].line: 38 -> 38.0"),
        ({"hint": None}, '$.findings[0 CU101].hint: "widen it" -> null'),
    ],
)
def test_a_changed_value_is_a_difference(changed, difference):
    after = {"findings": [{**FINDING, **changed}]}

    assert list(same_output.json_differences({"findings": [FINDING]}, after)) == [difference]


def test_a_missing_key_and_another_order_of_keys_are_differences():
    shorter = {key: value for key, value in FINDING.items() if key != "package"}

    assert [line.split(" ")[:2] for line in same_output.json_differences(FINDING, shorter)] == [["$:", "keys"]]
    assert len(list(same_output.json_differences({"a": 1, "b": 2}, {"b": 2, "a": 1}))) == 1


def test_another_order_and_another_number_of_items_are_differences():
    other = {**FINDING, "code": "CU201", "message": "a header"}

    assert list(same_output.json_differences([FINDING, other], [other, FINDING]))
    lines = list(same_output.json_differences([FINDING, other], [{**other, "message": "reworded"}]))
    assert lines[0] == "$: 2 items -> 1 items"
    assert [line[:18] for line in lines[1:] if line.startswith(('-{"', '+{"'))] == ['-{"code": "CU101",']


def test_another_rewrite_of_the_same_fix_is_no_difference():
    before = {"recipe": "gate", "rewrite": "open_gate", "parameters": {"a": 1}, "safety": "safe"}

    assert list(same_output.json_differences(before, {**before, "rewrite": "open_check", "parameters": {}})) == []
    assert list(same_output.json_differences(before, {**before, "recipe": "other"}))
    assert list(same_output.json_differences({"rewrite": "a"}, {"rewrite": "b"}))


def test_a_reworded_text_is_no_difference():
    reworded = {**FINDING, "message": "the mask is narrow", "hint": "make it wide"}

    assert list(same_output.json_differences([FINDING], [reworded])) == []


def test_a_fingerprint_may_differ_only_with_its_message():
    marks = {"partialFingerprints": {"rocm3dFinding/v1": "4567"}}

    assert list(same_output.json_differences(RESULT, {**RESULT, **marks, "message": {"text": "another"}})) == []
    assert len(list(same_output.json_differences(RESULT, {**RESULT, **marks}))) == 1


def test_a_text_keeps_its_shape():
    assert len(list(same_output.json_differences(RESULT, {**RESULT, "message": {"markdown": "a mask"}}))) == 1


def test_a_digest_may_differ_for_a_file_of_the_port_and_never_for_an_edited_one():
    other = {"after": "02", "diff": "+b"}

    assert list(same_output.json_differences(ADDED, {**ADDED, **other})) == []
    assert len(list(same_output.json_differences(EDITED, {**EDITED, **other}))) == 2


SCRIPT = r"""#!/bin/sh
# Why.
begin 1 'torch'
pip_install torch
[ -e x ] || fail "no x"
printf '%s\n' 'left' | note ' for a person'
printf '%s; only this\n' "$1" >&2
fail "$step: ${changed//$'\n'/; }" ${asked:+"$asked"} 'log; here'
printf 'kept\n' >>"$work/done.txt"
key="$(printf %s "$key" | cksum)"
"""
PAGE = "# A port\n\nProse.\n\n```sh\nbash install.sh  # prose\n```\n"
CODE = '"""What."""\n\n\ndef f():\n    """Why."""\n    return 1  # so\n'
FUNCTIONS = """import os
def difference(first, second):
    return [os.path.join(first, part) for part in second]
def call(names):
    return difference(*names)
"""


@pytest.mark.parametrize(
    ("path", "before", "old", "new"),
    [
        ("source/t/setup.py", "setup()\n", "setup()", "setup( )"),
        ("source/t/setup.py", "a  # why\n", "why", "how"),
        ("ported-x/t/.rocm3d/undo/0123", "a\n", "a", "b"),
        ("ported-x/t/.rocm3d/port.patch", PATCH.decode(), "+code", "+other"),
        ("ported-x/t/.rocm3d/port.patch", PATCH.decode(), "setup.py: gate", "setup.py: flags"),
        ("ported-x/t/.rocm3d/port.patch", PATCH.decode(), "a/rocm-port/README.md", "a/rocm-port/LIESMICH.md"),
        ("ported-x/t/rocm-port/install.sh", SCRIPT, "pip_install torch", "pip_install torch --no-deps"),
        ("ported-x/t/rocm-port/install.sh", SCRIPT, "-e x", "-f x"),
        ("ported-x/t/rocm-port/install.sh", SCRIPT, "begin 1", "begin 2"),
        ("ported-x/t/rocm-port/install.sh", SCRIPT, "kept", "lost"),
        ("ported-x/t/rocm-port/install.sh", SCRIPT, "printf %s", "printf %q"),
        ("ported-x/t/rocm-port/README.md", PAGE, "install.sh", "install.sh --dry-run"),
        ("ported-x/t/rocm-port/scripts.d/a.py", CODE, "return 1", "return 2"),
        ("ported-x/t/rocm-port/scripts.d/a.py", FUNCTIONS, "first, part", "part, first"),
        ("ported-x/t/rocm-port/scripts.d/a.py", FUNCTIONS, "os.path", "os.fspath"),
        ("ported-x/t/rocm-port/scripts.d/a.py", FUNCTIONS, "difference(*names)", "call(*names)"),
        ("ported-x/t/rocm-port/overrides.txt", "torch==2.8  # why\n", "2.8", "2.9"),
        ("ported-x/t/rocm-port/requirements.txt", "x @ git+https://y#egg=x\n", "#egg=x", "#egg=z"),
        ("ported-x/t/rocm-port/Dockerfile", "# Why.\nFROM a\n", "FROM a", "FROM b"),
        ("ported-x/t/rocm-port/port.json", '{"gfx": "gfx942"}', "gfx942", "gfx1100"),
        ("ported-x/t/rocm-port/another.kind", "# a\n", "a", "b"),
        ("documents/patch.json", '{"proof": {"kind": "ast", "detail": "same"}}', "ast", "bytes"),
        ("documents/scan.json", '{"known": 1}', "1", "2"),
        ("documents/scan.json", '{"known": 1}', "}", ""),
        ("documents/scan.json.exit", "1\n", "1", "0"),
    ],
)
def test_what_is_used_must_be_the_same(path, before, old, new):
    assert old in before
    assert same_output.file_differences(path, before.encode(), before.replace(old, new).encode())


@pytest.mark.parametrize(
    ("path", "before", "old", "new"),
    [
        ("ported-x/t/.rocm3d/port.patch", PATCH.decode(), "+prose", "+other prose"),
        ("ported-x/t/.rocm3d/port.patch", PATCH.decode(), "Every edit is guarded", "All edits are guarded"),
        ("ported-x/t/rocm-port/install.sh", SCRIPT, "# Why.", "# Another reason.\n# In two lines."),
        ("ported-x/t/rocm-port/install.sh", SCRIPT, "'torch'", "'the base'"),
        ("ported-x/t/rocm-port/install.sh", SCRIPT, '"no x"', '"x is missing"'),
        ("ported-x/t/rocm-port/install.sh", SCRIPT, "'left'", "'for a person'"),
        ("ported-x/t/rocm-port/install.sh", SCRIPT, "; only this", "; no other"),
        ("ported-x/t/rocm-port/install.sh", SCRIPT, "log; here", "the log"),
        ("ported-x/t/rocm-port/README.md", PAGE, "rose", "ROSE"),
        ("ported-x/t/rocm-port/scripts.d/a.py", CODE, '"""Why."""', '"""Because."""'),
        ("ported-x/t/rocm-port/scripts.d/a.py", CODE, '    """Why."""\n', ""),
        ("ported-x/t/rocm-port/scripts.d/a.py", CODE, "# so", "# thus"),
        ("ported-x/t/rocm-port/scripts.d/a.py", FUNCTIONS, "difference", "joined"),
        ("ported-x/t/rocm-port/scripts.d/a.py", FUNCTIONS, "names", "arguments"),
        ("ported-x/t/rocm-port/scripts.d/a.py", FUNCTIONS, "first", "zeroth"),
        ("ported-x/t/rocm-port/overrides.txt", "torch==2.8  # why\n", "why", "how"),
        ("ported-x/t/rocm-port/environment.sh", "# why\nexport A=1\n", "why", "how"),
        ("ported-x/t/rocm-port/Dockerfile", "# Why.\nFROM a\n", "Why", "How"),
        ("documents/scan.sarif", '{"help": {"text": "a"}}', '"a"', '"b"'),
        ("documents/patch.json", '{"proof": {"kind": "ast", "detail": "same"}}', "same", "equal"),
        ("documents/plan.json", '{"traps": ["installed, not used"]}', "not used", "unused"),
    ],
)
def test_prose_and_comments_may_differ(path, before, old, new):
    assert old in before
    assert same_output.file_differences(path, before.encode(), before.replace(old, new).encode()) == []


def test_bytes_that_are_no_text_differ_from_what_they_are_shown_as():
    assert same_output.file_differences("source/t/a.cu", b"\xff\n", rb"\udcff" + b"\n")[-2:] == ["+\\udcff", " "]
    assert same_output.file_differences("source/t/a.cu", b"\xff\n", b"\xfe\n")


def workspaces(tmp_path, before: dict[str, str], after: dict[str, str]) -> tuple[Path, Path]:
    for side, files in (("before", before), ("after", after)):
        for name, text in files.items():
            (tmp_path / side / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / side / name).write_text(text, encoding="utf-8")
    return tmp_path / "before", tmp_path / "after"


def test_a_file_of_one_side_is_a_difference(tmp_path):
    both = workspaces(tmp_path, {"source/t/a.cu": "a"}, {"source/t/a.cu": "a", "source/t/b.cu": "b"})

    assert list(same_output.workspace_differences(*both)) == ["source/t/b.cu: only after"]


def test_a_long_difference_is_cut_and_one_in_several_places_is_shown_once(tmp_path):
    names = ("ported-x/t/x.cu", "source/t/x.cu")

    (difference,) = same_output.workspace_differences(
        *workspaces(tmp_path, dict.fromkeys(names, "a\n" * 99), dict.fromkeys(names, "b\n" * 99))
    )

    first, *lines = difference.splitlines()
    assert first == "ported-x/t/x.cu, source/t/x.cu:"
    assert "    -a" in lines
    assert lines[-1].startswith("    ... ")
    assert len(lines) == same_output.MAX_SHOWN_LINES + 1


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ([same.Result("a")], 0),
        ([same.Result("a"), same.Result("b", ("x",)), same.Result("c", obstacle="no mirror")], 1),
        ([same.Result("a"), same.Result("c", obstacle="no mirror")], 4),
    ],
)
def test_what_was_not_compared_is_never_the_same(results, code, capsys):
    assert same.summarise(results, 1.0) == code
    assert ("not compared: c: no mirror" in capsys.readouterr().out) == (len(results) > 1)


@pytest.mark.engines
def test_another_severity_is_a_difference_and_other_words_are_none(copied_checkout, capsys):
    """This checkout against a changed copy of itself, from the command line to the exit code."""
    rule = copied_checkout / "knowledge" / "rules" / "cuda" / "lane_mask_32bit" / "rule.toml"
    replace_once(rule, 'severity = "error"', 'severity = "warning"')
    replace_once(rule, "{call} gets the 32-bit lane mask {mask}", "the lane mask {mask} of {call} has 32 bits")
    replace_once(copied_checkout / "src/rocm3d/apply/templates/README.md", "Nothing outside", "No file outside")

    assert same.main([str(ROOT), str(copied_checkout), "--only", "deform-op", "--gpu", "mi300x"]) == 1
    output = capsys.readouterr().out
    assert 'CU101].severity: "error" -> "warning"' in output
    assert "has 32 bits" not in output
    assert "README.md" not in output
    assert "port.patch" not in output
    assert "1 of 1 inputs compared, 1 with differences" in output
