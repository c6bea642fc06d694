from __future__ import annotations


def test_foreign_folder_is_refused(rocm3d, tmp_path):
    (tmp_path / "SKILL.md").write_text("---\nname: other\n---\n")

    ended = rocm3d("skill", tmp_path)

    assert ended.code == 2
    assert (tmp_path / "SKILL.md").read_text() == "---\nname: other\n---\n"


def test_an_older_skill_is_checked_against_these_commands(rocm3d, tmp_path):
    (tmp_path / "SKILL.md").write_text("---\nname: rocm3d-port\ndescription: x\n---\n`rocm3d migrate PATH`\n")

    ended = rocm3d("skill", tmp_path, "--check")

    assert ended.code == 1
    assert "SKILL.md: unknown command: rocm3d migrate PATH\n" in ended.out
    assert [path.name for path in tmp_path.iterdir()] == ["SKILL.md"]


def test_the_skill_is_written_and_written_again(rocm3d, tmp_path, snapshot):
    first = rocm3d("skill", tmp_path / "skill")
    once = snapshot(tmp_path / "skill")
    own = tmp_path / "skill" / "references" / "own.md"
    own.write_text("mine")
    second = rocm3d("skill", tmp_path / "skill")

    assert (0, 0) == (first.code, second.code), first.err
    assert own.read_text() == "mine"
    assert "references/own.md" in second.err
    own.unlink()
    assert once == snapshot(tmp_path / "skill")
    assert {"SKILL.md", "evals/evals.json", "references/attention.md"} <= set(once)
