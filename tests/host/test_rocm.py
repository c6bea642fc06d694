from __future__ import annotations

from rocm3d.host.files import Files
from rocm3d.host.installed_torch import Answer
from rocm3d.host.rocm import read_installs


def test_no_rocm_anywhere(tmp_path):
    assert read_installs(Files(tmp_path), Answer("3.12", (tmp_path,), tmp_path)) == ()


def test_folder_that_only_bears_the_name_is_none(tmp_path):
    (tmp_path / "opt" / "rocm-tools").mkdir(parents=True)

    assert read_installs(Files(tmp_path), None) == ()


def test_link_and_what_it_leads_to_are_one(machines, tmp_path):
    machines.rocm(tmp_path, "6.4.3")
    machines.rocm(tmp_path, "7.2.0", compiler=False)
    (tmp_path / "opt" / "rocm").symlink_to("rocm-6.4.3")

    found = [(item.form, item.path, item.version, item.compiler) for item in read_installs(Files(tmp_path), None)]

    assert found == [("system", "/opt/rocm", "6.4.3", True), ("system", "/opt/rocm-7.2.0", "7.2.0", False)]


def test_packages_of_the_distribution(machines, tmp_path):
    for name in ("libamdhip64.so.5", "libamdhip64.so.5.7.31921"):
        machines.put(tmp_path, f"usr/lib/x86_64-linux-gnu/{name}", "")
    machines.put(tmp_path, "usr/bin/hipcc", "")

    (found,) = read_installs(Files(tmp_path), None)

    assert (found.form, found.version, found.compiler) == ("distribution", "5.7", True)


def test_wheels_of_the_sdk(machines, tmp_path):
    site = tmp_path / "site-packages"
    machines.put(site, "_rocm_sdk_core/bin/hipcc", "")
    (site / "rocm_sdk_core-7.14.0.dist-info").mkdir()

    (found,) = read_installs(Files(tmp_path), Answer("3.12", (tmp_path / "none", site), tmp_path))

    assert (found.form, found.version, found.compiler) == ("pip", "7.14.0", True)


def test_conda_environment(machines, tmp_path):
    machines.put(tmp_path, "env/conda-meta/history", "")
    machines.put(tmp_path, "env/lib/libamdhip64.so.6.3.42131", "")

    (found,) = read_installs(Files(tmp_path), Answer("3.12", (), tmp_path / "env"))

    assert (found.form, found.version, found.compiler) == ("conda", "6.3", False)


def test_release_below_a_folder_of_its_own(machines, tmp_path):
    machines.put(tmp_path, "opt/rocm/core-7.14/.info/version", "7.14.0")

    (found,) = read_installs(Files(tmp_path), None)

    assert (found.path, found.version) == ("/opt/rocm/core-7.14", "7.14.0")
