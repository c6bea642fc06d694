from __future__ import annotations

import os

import pytest

from rocm3d.verify.resolution.index import IndexSettings, read_index_settings, uv_settings_options


def environment(**variables: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "PIP_CONFIG_FILE": os.devnull, "HOME": "/nowhere", **variables}


def test_without_settings_it_is_the_default_of_the_tools():
    assert read_index_settings(environment()) == IndexSettings()


@pytest.mark.parametrize("url", ["file:///srv/simple", "/srv/simple"])
def test_local_indexes_are_ignored(url):
    """Other users do not have it, so they would resolve differently."""
    variables = environment(PIP_EXTRA_INDEX_URL=url, PIP_INDEX_URL=url, PIP_FIND_LINKS="/srv/wheels")

    assert read_index_settings(variables) == IndexSettings()


def test_local_links_are_used_with_no_index():
    assert read_index_settings(environment(PIP_NO_INDEX="1", PIP_FIND_LINKS="/srv/wheels")).links == ("/srv/wheels",)


def test_variables_go_before_files(tmp_path):
    settings = tmp_path / "pip.conf"
    settings.write_text(
        "[global]\nindex-url = https://a/simple\ncert = /c.pem\nextra-index-url =\n  https://x/s\n  file:///y\n"
    )

    from_file = read_index_settings(environment(PIP_CONFIG_FILE=str(settings)))
    from_both = read_index_settings(environment(PIP_CONFIG_FILE=str(settings), PIP_INDEX_URL="https://b/simple"))

    assert from_file == IndexSettings("https://a/simple", ("https://x/s",), cert="/c.pem")
    assert from_both.default == "https://b/simple"


def test_without_pip_its_variables_are_read(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    assert read_index_settings({"PIP_INDEX_URL": "https://a/simple"}).default == "https://a/simple"


def test_uv_settings_take_precedence_over_pip():
    variables = environment(PIP_INDEX_URL="https://a/simple", UV_DEFAULT_INDEX="https://u/simple", UV_FIND_LINKS="/x")
    indexes = read_index_settings(variables)

    assert indexes.uv_is_configured
    assert indexes.uv_environment(variables)["UV_DEFAULT_INDEX"] == "https://u/simple"
    assert "UV_FIND_LINKS" not in indexes.uv_environment(variables)


def test_a_file_of_uv_with_an_index_counts(tmp_path):
    (tmp_path / "uv").mkdir()
    (tmp_path / "uv" / "uv.toml").write_text('[[index]]\nurl = "https://u/simple"\n')

    assert read_index_settings(environment(XDG_CONFIG_HOME=str(tmp_path))).uv_is_configured


def test_pips_settings_are_translated_for_uv():
    variables = environment(VIRTUAL_ENV="/v", PYTHONPATH="/p", KEPT="yes")
    uv_variables = IndexSettings("https://a/simple", ("https://b/s", "https://c/s"), cert="/c.pem").uv_environment(
        variables
    )

    assert uv_variables["UV_DEFAULT_INDEX"] == "https://a/simple"
    assert uv_variables["UV_INDEX"] == "https://b/s https://c/s"
    assert uv_variables["SSL_CERT_FILE"] == "/c.pem"
    assert uv_variables["KEPT"] == "yes"
    assert not {"VIRTUAL_ENV", "PYTHONPATH", "PIP_CONFIG_FILE"} & set(uv_variables)


def test_the_index_of_a_route_replaces_all_others():
    indexes = IndexSettings("https://a/simple", ("https://b/s",))

    assert indexes.uv_environment({"UV_INDEX": "https://u"}, "https://r")["UV_DEFAULT_INDEX"] == "https://r"
    assert "UV_INDEX" not in indexes.uv_environment({"UV_INDEX": "https://u"}, "https://r")
    assert indexes.pip_environment({}, "https://r") == {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": "https://r"}


def test_pip_gets_the_indexes_without_its_configuration_files():
    pip_variables = IndexSettings("https://a/simple", ("https://b/s",), cert="/c.pem").pip_environment(
        {"PIP_PRE": "1", "A": "b"}
    )

    assert pip_variables == {
        "A": "b",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": "https://a/simple",
        "PIP_EXTRA_INDEX_URL": "https://b/s",
        "PIP_CERT": "/c.pem",
    }


def test_uv_reads_no_settings_but_those_of_the_user(tmp_path):
    variables = environment(XDG_CONFIG_HOME=str(tmp_path))
    assert uv_settings_options(variables) == ["--no-config"]

    (tmp_path / "uv").mkdir()
    (tmp_path / "uv" / "uv.toml").write_text("offline = true\n")
    assert uv_settings_options(variables) == ["--config-file", f"{tmp_path}/uv/uv.toml"]


def test_module_named_pip_in_the_working_folder_is_not_run(tmp_path, monkeypatch):
    (tmp_path / "pip.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)

    read_index_settings(environment(PIP_INDEX_URL="https://once/simple"))

    assert not (tmp_path / "ran").exists()
