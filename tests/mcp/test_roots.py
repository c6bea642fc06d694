"""Paths are restricted to the allowed folders."""

from __future__ import annotations

import pytest

from rocm3d.mcp.roots import AllowedRoots
from rocm3d.model.errors import UserError


@pytest.fixture
def places(tmp_path):
    for name in ("given/inside", "given-too", "secret"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "given" / "link").symlink_to(tmp_path / "secret")
    return tmp_path


def roots(places, *client_uris, allowed=()):
    return AllowedRoots.resolve([places / name for name in allowed], [(places / name).as_uri() for name in client_uris])


@pytest.mark.parametrize(
    "requested", ["secret", "given/../secret", "given/link", "given/link/x", "given-too", ".", "gone"]
)
def test_refusal_does_not_reveal_whether_an_outside_path_exists(places, requested):
    with pytest.raises(UserError, match="is outside the allowed folders") as refused:
        roots(places, "given").check_path(str(places / requested))

    assert "does not exist" not in refused.value.message


@pytest.mark.parametrize("requested", ["", "a\0b", "/" + "x" * 5000])
def test_invalid_path_is_refused(places, requested):
    with pytest.raises(UserError, match="empty, too long, or contains a null byte"):
        roots(places, "given").check_path(requested)


def test_a_link_that_leads_to_itself_is_refused(places):
    (places / "given" / "loop").symlink_to("loop")

    with pytest.raises(UserError):
        roots(places).check_path(str(places / "given" / "loop"))


def test_without_folders_nothing_is_allowed(places):
    with pytest.raises(UserError, match="provides no roots") as refused:
        AllowedRoots.resolve((), ()).check_path(str(places))

    assert refused.value.hint == "start it with `rocm3d mcp --root DIR`"


@pytest.mark.parametrize(
    "uri", ["http://example.org/given", "file://elsewhere/given", "file:given", "file:///a%00b", "file://[x/given", ""]
)
def test_what_is_no_folder_of_this_machine_gives_nothing(uri):
    assert AllowedRoots.resolve((), [uri]).client_roots == ()


def test_both_limits_hold(places):
    both = roots(places, "given", allowed=("given/inside", "secret"))

    assert both.check_path(str(places / "given" / "inside")) == places / "given" / "inside"
    for outside in ("given", "secret"):
        with pytest.raises(UserError):
            both.check_path(str(places / outside))


def test_the_folders_of_the_server_serve_a_client_without_any(places):
    assert roots(places, allowed=("given",)).check_path(str(places / "given" / "inside")) == places / "given" / "inside"


def test_a_relative_path_is_of_the_only_folder(places):
    assert roots(places, "given").check_path("inside") == places / "given" / "inside"
    with pytest.raises(UserError, match="is ambiguous"):
        roots(places, "given", "given-too").check_path("inside")


def test_uri_escapes_are_decoded(places):
    (places / "a b").mkdir()

    assert AllowedRoots.resolve((), [(places / "a b").as_uri()]).check_path(str(places / "a b")) == places / "a b"


def test_root_through_a_link_is_resolved(places):
    (places / "way").symlink_to(places / "given")

    assert roots(places, "way").check_path(str(places / "way" / "inside")) == places / "given" / "inside"
