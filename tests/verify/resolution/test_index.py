from __future__ import annotations

import os

import pytest

from rocm3d.verify.resolution.index import Indexes, configured


def environment(**given: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "PIP_CONFIG_FILE": os.devnull, "HOME": "/nowhere", **given}


def test_without_settings_it_is_the_default_of_the_tools():
    assert configured(environment()) == Indexes()


@pytest.mark.parametrize("url", ["file:///srv/simple", "/srv/simple"])
def test_a_store_of_this_machine_is_left_out(url):
    """Other users do not have it, so they would resolve differently."""
    given = environment(PIP_EXTRA_INDEX_URL=url, PIP_INDEX_URL=url, PIP_FIND_LINKS="/srv/wheels")

    assert configured(given) == Indexes()


def test_it_is_used_where_pip_is_told_to_use_nothing_else():
    assert configured(environment(PIP_NO_INDEX="1", PIP_FIND_LINKS="/srv/wheels")).links == ("/srv/wheels",)


def test_variables_go_before_files(tmp_path):
    settings = tmp_path / "pip.conf"
    settings.write_text(
        "[global]\nindex-url = https://a/simple\ncert = /c.pem\nextra-index-url =\n  https://x/s\n  file:///y\n"
    )

    from_file = configured(environment(PIP_CONFIG_FILE=str(settings)))
    from_both = configured(environment(PIP_CONFIG_FILE=str(settings), PIP_INDEX_URL="https://b/simple"))

    assert from_file == Indexes("https://a/simple", ("https://x/s",), cert="/c.pem")
    assert from_both.default == "https://b/simple"


def test_without_pip_its_variables_are_read(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    assert configured({"PIP_INDEX_URL": "https://a/simple"}).default == "https://a/simple"


def test_what_uv_is_configured_with_goes_before_pips():
    given = environment(PIP_INDEX_URL="https://a/simple", UV_DEFAULT_INDEX="https://u/simple", UV_FIND_LINKS="/x")
    indexes = configured(given)

    assert indexes.own
    assert indexes.uv_environment(given)["UV_DEFAULT_INDEX"] == "https://u/simple"
    assert "UV_FIND_LINKS" not in indexes.uv_environment(given)


def test_a_file_of_uv_with_an_index_counts(tmp_path):
    (tmp_path / "uv").mkdir()
    (tmp_path / "uv" / "uv.toml").write_text('[[index]]\nurl = "https://u/simple"\n')

    assert configured(environment(XDG_CONFIG_HOME=str(tmp_path))).own


def test_pips_settings_are_translated_for_uv():
    given = environment(VIRTUAL_ENV="/v", PYTHONPATH="/p", KEPT="yes")
    told = Indexes("https://a/simple", ("https://b/s", "https://c/s"), cert="/c.pem").uv_environment(given)

    assert told["UV_DEFAULT_INDEX"] == "https://a/simple"
    assert told["UV_INDEX"] == "https://b/s https://c/s"
    assert told["SSL_CERT_FILE"] == "/c.pem"
    assert told["KEPT"] == "yes"
    assert not {"VIRTUAL_ENV", "PYTHONPATH", "PIP_CONFIG_FILE"} & set(told)


def test_an_index_of_a_route_is_asked_alone():
    indexes = Indexes("https://a/simple", ("https://b/s",))

    assert indexes.uv_environment({"UV_INDEX": "https://u"}, "https://r")["UV_DEFAULT_INDEX"] == "https://r"
    assert "UV_INDEX" not in indexes.uv_environment({"UV_INDEX": "https://u"}, "https://r")
    assert indexes.pip_environment({}, "https://r") == {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": "https://r"}


def test_pip_is_given_the_indexes_and_none_of_its_files():
    told = Indexes("https://a/simple", ("https://b/s",), cert="/c.pem").pip_environment({"PIP_PRE": "1", "A": "b"})

    assert told == {
        "A": "b",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": "https://a/simple",
        "PIP_EXTRA_INDEX_URL": "https://b/s",
        "PIP_CERT": "/c.pem",
    }
