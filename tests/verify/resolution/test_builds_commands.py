from __future__ import annotations

from rocm3d.verify.resolution.build_source import GitSource
from rocm3d.verify.resolution.builds import clones, install_commands


def test_commands_that_install_nothing_are_none(ported, make_decision):
    plan = ported(
        decisions=[make_decision("a", "build", commands=(("make", "all"), ("pip", "uninstall", "-y", "b")))]
    ).plan

    assert list(install_commands(plan)) == []


def test_a_decision_without_command_and_requirement_is_none(ported, make_decision):
    assert list(install_commands(ported(decisions=[make_decision("a"), make_decision("b", "drop")]).plan)) == []


def test_a_requirement_without_command_is_an_install_at_its_index(ported, make_decision):
    routed = make_decision("a", "replace", requirement="a-rocm==1", index="https://h/simple")

    (command,) = install_commands(ported(decisions=[routed]).plan)

    assert (command.mentions[0].name, command.index) == ("a-rocm", "https://h/simple")


def test_flags_and_index_of_a_command_are_read(ported, make_decision):
    words = ("pip", "install", "--index-url", "https://h/simple", "--no-deps", "a", "b")

    (command,) = install_commands(ported(decisions=[make_decision("a", "replace", commands=(words,))]).plan)

    assert [item.name for item in command.mentions] == ["a", "b"]
    assert (command.index, command.flags) == ("https://h/simple", {"--no-deps"})


def test_clones_are_known_by_their_folder(make_decision):
    decision = make_decision(
        "a",
        "build",
        commands=(
            ("git", "clone", "-b", "rocm", "https://h/o/spconv_rocm.git"),
            ("git", "clone", "--depth", "1", "https://h/o/x.git", "place"),
            ("git", "clone"),
            ("git", "status"),
        ),
    )

    assert clones(decision) == {
        "spconv_rocm": GitSource("https://h/o/spconv_rocm.git", "rocm"),
        "place": GitSource("https://h/o/x.git"),
    }
