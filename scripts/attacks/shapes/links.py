"""Links that lead out of the tree, in every role that a file can have."""

from __future__ import annotations

from attacks.site import Site

FILES = (
    "setup.py", "requirements.txt", "pyproject.toml", "rocm3d.toml", ".gitattributes", ".gitmodules", "environment.yml",
    "Dockerfile", "CMakeLists.txt", "README.md", "install.sh", "setup.cfg", "csrc/extra.cu", "pkg/extra.py", "uv.toml",
)  # fmt: skip
DEVICES = ("/dev/zero", "/dev/stdin", "/proc/self/environ", "/proc/self/mem", "/dev/tty")


def file_links_out(site: Site) -> None:
    """One file of the repository is a file of somebody else."""
    site.link(site.random.choice(FILES), site.outside / "folder" / "setup.py")


def requirements_link_to_a_secret(site: Site) -> None:
    site.link("requirements.txt", site.outside / "secret.json")


def source_folder_links_out(site: Site) -> None:
    """A folder with kernels that apply would edit."""
    site.link("csrc2", site.outside / "folder" / "csrc")


def edited_file_links_out(site: Site) -> None:
    """A file that apply edits has moved outside; a link is in its place."""
    site.write("setup.py", (site.tree / "setup.py").read_bytes() if (site.tree / "setup.py").is_file() else b"")
    (site.tree / "setup.py").rename(site.outside / "moved.py")
    site.link("setup.py", site.outside / "moved.py")


def relative_link_out(site: Site) -> None:
    site.link("pkg/up.py", "../../outside/module.py")


def link_to_a_device(site: Site) -> None:
    site.link(site.random.choice(("a.cu", "requirements.txt", "pyproject.toml")), site.random.choice(DEVICES))


def links_in_a_loop(site: Site) -> None:
    site.link("loop/a", "../loop/b")
    site.link("loop/b", "../loop/a")
    site.link("loop/self", "self")
    site.link("around", ".")
    site.link("up", "..")


def link_to_the_root_of_the_disk(site: Site) -> None:
    site.link("everything", "/")


def dangling_links(site: Site) -> None:
    """A write through one would create the file."""
    for name in ("requirements.txt", "a.cu", "rocm-port/install.sh"):
        site.link(name, site.outside / "created.txt")


def hard_link_to_a_file_outside(site: Site) -> None:
    """A write in place would change both."""
    shared = site.outside / "shared.cu"
    shared.write_text("#include <device_launch_parameters.h>\n", encoding="utf-8")
    site.clear("csrc/linked.cu").hardlink_to(shared)


SHAPES = (
    file_links_out, requirements_link_to_a_secret, source_folder_links_out, edited_file_links_out, relative_link_out,
    link_to_a_device, links_in_a_loop, link_to_the_root_of_the_disk, dangling_links, hard_link_to_a_file_outside,
)  # fmt: skip
