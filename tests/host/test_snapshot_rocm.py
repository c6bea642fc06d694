from __future__ import annotations

from rocm3d.host.files import MachineFiles
from rocm3d.host.installed_torch import InterpreterInfo
from rocm3d.host.snapshot import read_rocm_installs


def test_no_rocm_anywhere(tmp_path):
    assert read_rocm_installs(MachineFiles(tmp_path), InterpreterInfo("3.12", (tmp_path,), tmp_path)) == ()


def test_folder_named_rocm_without_rocm_is_ignored(tmp_path):
    (tmp_path / "opt" / "rocm-tools").mkdir(parents=True)

    assert read_rocm_installs(MachineFiles(tmp_path), None) == ()


def test_link_and_its_target_are_listed_once(machines, tmp_path):
    machines.rocm(tmp_path, "6.4.3")
    machines.rocm(tmp_path, "7.2.0", compiler=False)
    (tmp_path / "opt" / "rocm").symlink_to("rocm-6.4.3")

    installs = [
        (install.form, install.path, install.version, install.compiler)
        for install in read_rocm_installs(MachineFiles(tmp_path), None)
    ]

    assert installs == [("system", "/opt/rocm", "6.4.3", True), ("system", "/opt/rocm-7.2.0", "7.2.0", False)]


def test_packages_of_the_distribution(machines, tmp_path):
    for name in ("libamdhip64.so.5", "libamdhip64.so.5.7.31921"):
        machines.put(tmp_path, f"usr/lib/x86_64-linux-gnu/{name}", "")
    machines.put(tmp_path, "usr/bin/hipcc", "")

    (install,) = read_rocm_installs(MachineFiles(tmp_path), None)

    assert (install.form, install.version, install.compiler) == ("distribution", "5.7", True)


def test_wheels_of_the_sdk(machines, tmp_path):
    site = tmp_path / "site-packages"
    machines.put(site, "_rocm_sdk_core/bin/hipcc", "")
    (site / "rocm_sdk_core-7.14.0.dist-info").mkdir()

    (install,) = read_rocm_installs(
        MachineFiles(tmp_path), InterpreterInfo("3.12", (tmp_path / "none", site), tmp_path)
    )

    assert (install.form, install.version, install.compiler) == ("pip", "7.14.0", True)


def test_conda_environment(machines, tmp_path):
    machines.put(tmp_path, "env/conda-meta/history", "")
    machines.put(tmp_path, "env/lib/libamdhip64.so.6.3.42131", "")

    (install,) = read_rocm_installs(MachineFiles(tmp_path), InterpreterInfo("3.12", (), tmp_path / "env"))

    assert (install.form, install.version, install.compiler) == ("conda", "6.3", False)


def test_release_in_a_core_folder(machines, tmp_path):
    machines.put(tmp_path, "opt/rocm/core-7.14/.info/version", "7.14.0")

    (install,) = read_rocm_installs(MachineFiles(tmp_path), None)

    assert (install.path, install.version) == ("/opt/rocm/core-7.14", "7.14.0")
