from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.host.files import MachineFiles, find_mount, read_mounts
from rocm3d.host.processor import count_cpus, read_processor

GIB = 1 << 30


@pytest.fixture
def read(machines, tmp_path):
    def run(**more: str):
        machines.system(tmp_path, "6.8.0", "x", "quiet", 64 * GIB, "0-15", shm=64 << 20)
        for path, text in more.items():
            machines.put(tmp_path, path.replace("__", "/"), text)
        files = MachineFiles(tmp_path)
        return read_processor(files, read_mounts(files))

    return run


def test_missing_files_give_zeros(tmp_path):
    processor = read_processor(MachineFiles(tmp_path), ())

    assert (processor.cpus, processor.usable_cpus, processor.memory_bytes, processor.shm_bytes, processor.l3) == (
        0,
        0,
        0,
        0,
        (),
    )


def test_shared_memory_has_the_size_that_the_mount_names(read):
    assert read().shm_bytes == 64 << 20


def test_tmpfs_without_a_size_is_half_of_the_memory(read, machines, tmp_path):
    read()
    machines.put(tmp_path, "proc/self/mountinfo", "25 24 0:23 / /dev/shm rw - tmpfs tmpfs rw,inode64")

    assert read_processor(MachineFiles(tmp_path), read_mounts(MachineFiles(tmp_path))).shm_bytes == 32 * GIB


@pytest.mark.parametrize(
    ("path", "text", "limit"),
    [
        ("user.slice__memory.max", str(8 * GIB), 8 * GIB),
        ("memory.max", str(4 * GIB), 4 * GIB),
        ("user.slice__memory.max", "max", 0),
        ("memory.max", "x" * 30, 0),
    ],
)
def test_memory_limit_of_the_group_and_of_those_above(read, path, text, limit):
    assert read(**{f"sys__fs__cgroup__{path}": text}).memory_limit == limit


def test_memory_limit_of_the_first_version(read):
    groups = {
        "proc__self__cgroup": "4:memory:/job/7\n0::/",
        "sys__fs__cgroup__memory__job__memory.limit_in_bytes": str(GIB),
    }

    assert read(**groups).memory_limit == GIB


@pytest.mark.parametrize(("text", "cpus"), [("max 100000", 16), ("250000 100000", 3), ("0 0", 16), ("junk", 16)])
def test_time_limit_as_whole_processors(read, text, cpus):
    assert read(**{"sys__fs__cgroup__user.slice__cpu.max": text}).usable_cpus == cpus


@pytest.mark.parametrize(
    ("text", "number"), [("0-7,16-23", 16), ("3", 1), ("", 0), ("7-0", 0), ("a-b", 0), ("0-9999999", 0)]
)
def test_processors_of_a_list(text, number):
    assert count_cpus(text) == number


@given(st.text(max_size=60))
def test_any_text_is_accepted_as_cpu_list(text):
    assert count_cpus(text) >= 0


def test_a_mount_with_a_blank_in_its_name_and_one_over_another(machines, tmp_path):
    lines = (
        "1 0 0:1 / / rw - ext4 a rw\n2 1 0:2 / /my\\040disk rw - xfs b rw\n"
        "3 1 0:3 / /my\\040disk rw - nfs4 c rw\njunk\n4 - x"
    )
    machines.put(tmp_path, "proc/self/mountinfo", lines)
    mounts = read_mounts(MachineFiles(tmp_path))

    assert [mount.filesystem for mount in mounts] == ["ext4", "xfs", "nfs4"]
    assert find_mount("/my disk/cache", mounts).filesystem == "nfs4"
    assert find_mount("/my diskette", mounts).filesystem == "ext4"
    assert find_mount("/x", ()) is None
