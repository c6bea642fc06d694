"""Paths are restricted to the allowed folders."""

from __future__ import annotations

import pytest

from rocm3d.mcp.roots import Roots
from rocm3d.model.failure import UserError


@pytest.fixture
def places(tmp_path):
    for name in ("given/inside", "given-too", "secret"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "given" / "link").symlink_to(tmp_path / "secret")
    return tmp_path


def roots(places, *given, allowed=()):
    return Roots.of([places / name for name in allowed], [(places / name).as_uri() for name in given])


@pytest.mark.parametrize("asked", ["secret", "given/../secret", "given/link", "given/link/x", "given-too", ".", "gone"])
def test_a_path_outside_is_refused_in_the_same_words_whatever_is_there(places, asked):
    with pytest.raises(UserError, match="is outside the allowed folders") as refused:
        roots(places, "given").confine(str(places / asked))

    assert "does not exist" not in refused.value.message


@pytest.mark.parametrize("asked", ["", "a\0b", "/" + "x" * 5000])
def test_what_is_no_path_is_refused(places, asked):
    with pytest.raises(UserError, match="empty, too long, or contains a null byte"):
        roots(places, "given").confine(asked)


def test_a_link_that_leads_to_itself_is_refused(places):
    (places / "given" / "loop").symlink_to("loop")

    with pytest.raises(UserError):
        roots(places).confine(str(places / "given" / "loop"))


def test_without_folders_nothing_is_allowed(places):
    with pytest.raises(UserError, match="provides no roots") as refused:
        Roots.of((), ()).confine(str(places))

    assert refused.value.hint == "start it with `rocm3d mcp --root DIR`"


@pytest.mark.parametrize(
    "uri", ["http://example.org/given", "file://elsewhere/given", "file:given", "file:///a%00b", "file://[x/given", ""]
)
def test_what_is_no_folder_of_this_machine_gives_nothing(uri):
    assert Roots.of((), [uri]).given == ()


def test_both_limits_hold(places):
    both = roots(places, "given", allowed=("given/inside", "secret"))

    assert both.confine(str(places / "given" / "inside")) == places / "given" / "inside"
    for outside in ("given", "secret"):
        with pytest.raises(UserError):
            both.confine(str(places / outside))


def test_the_folders_of_the_server_serve_a_client_without_any(places):
    assert roots(places, allowed=("given",)).confine(str(places / "given" / "inside")) == places / "given" / "inside"


def test_a_relative_path_is_of_the_only_folder(places):
    assert roots(places, "given").confine("inside") == places / "given" / "inside"
    with pytest.raises(UserError, match="is ambiguous"):
        roots(places, "given", "given-too").confine("inside")


def test_a_folder_is_given_by_an_address_with_escapes(places):
    (places / "a b").mkdir()

    assert Roots.of((), [(places / "a b").as_uri()]).confine(str(places / "a b")) == places / "a b"


def test_a_folder_that_is_given_through_a_link_is_the_real_one(places):
    (places / "way").symlink_to(places / "given")

    assert roots(places, "way").confine(str(places / "way" / "inside")) == places / "given" / "inside"
