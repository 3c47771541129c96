"""Where an embedded store may lie (B059)."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.store.opening import open_store
from dolmen.store.sqlite.place import file_system, linux_type, macos_type, refuse_network

MOUNTINFO = r"""22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
30 22 0:26 / /home rw shared:9 - nfs4 server:/export/home rw,vers=4.2
31 30 254:2 / /home/ada/My\040Disk rw - xfs /dev/vdb rw
32 22 0:40 / /mnt/share rw - fuse.sshfs ada@host: rw
33 22 0:41 / /over rw - ext4 /dev/vdc rw
34 22 0:42 / /over rw - cifs //server/share rw
"""
MOUNTS = """/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
/dev/disk3s5 on /System/Volumes/Data (apfs, local, journaled, nobrowse)
//ada@server/share on /Volumes/share (smbfs, nodev, nosuid, mounted by ada)
server:/export on /Volumes/nfs (nfs)
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/var/lib", "ext4"),
        ("/home/ada", "nfs4"),
        ("/home/ada/My Disk/dolmen", "xfs"),
        ("/homework", "ext4"),
        ("/mnt/share/x", "fuse.sshfs"),
        ("/over", "cifs"),
    ],
)
def test_linux_tells_the_file_system_by_the_last_mount_over_a_folder(folder: str, kind: str) -> None:
    assert linux_type(Path(folder), MOUNTINFO) == kind


@pytest.mark.parametrize(
    ("folder", "kind"),
    [("/Users/ada", "apfs"), ("/Volumes/share/x", "smbfs"), ("/Volumes/nfs", "nfs"), ("/Volumes/shared", "apfs")],
)
def test_macos_tells_it_too(folder: str, kind: str) -> None:
    assert macos_type(Path(folder), MOUNTS) == kind


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smbfs", "fuse.sshfs", "9p"])
def test_a_network_file_system_is_refused_with_what_to_do(kind: str) -> None:
    with pytest.raises(DolmenError) as refused:
        refuse_network(Path("/home/ada"), kind)
    assert refused.value.code == "store-unsafe"
    assert kind in refused.value.message
    assert "DOLMEN_DATABASE" in refused.value.fix


def test_a_local_disk_is_accepted(tmp_path: Path) -> None:
    refuse_network(tmp_path, file_system(tmp_path))
    refuse_network(tmp_path, None)


def test_the_store_is_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        store = open_store(f"sqlite:///{tmp_path}/new/deep/memory.db")
    finally:
        os.umask(before)
    with store.write() as tx:
        tx.accounts.add_vault("v", "n", "o", "O")
    folder = tmp_path / "new" / "deep"
    assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    for file in folder.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file.name
    assert sorted(file.name for file in folder.iterdir()) == [
        "memory.db",
        "memory.db-queue",
        "memory.db-shm",
        "memory.db-wal",
    ]
    store.close()


def test_a_path_that_cannot_be_a_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path, tmp_path / "file" / "memory.db"):
        with pytest.raises(DolmenError) as refused:
            open_store(f"sqlite:///{path}")
        assert refused.value.code == "unavailable"
        assert refused.value.fix


def _lose(path: Path) -> None:
    for file in path.parent.iterdir():
        file.unlink()


def _replace(path: Path) -> None:
    other = path.with_name("other.db")
    open_store(f"sqlite:///{other}").close()
    os.replace(other, path)


def _move(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))


@pytest.mark.parametrize("lose", [_lose, _replace, _move])
@pytest.mark.parametrize("when", ["before", "during"])
def test_a_store_whose_file_is_gone_takes_no_write_and_says_so(
    tmp_path: Path, lose: Callable[[Path], None], when: str
) -> None:
    """What is written to a file that has lost its name is gone with the process."""
    path = tmp_path / "data" / "memory.db"
    store = open_store(f"sqlite:///{path}")
    with store.write() as tx:
        tx.accounts.add_vault("v", "Ada's", "o", "Ada")
    store.ping()
    if when == "before":
        lose(path)
    with pytest.raises(DolmenError) as refused, store.write() as tx:  # noqa: PT012
        tx.accounts.set("v", "k", "not stored")
        if when == "during":
            lose(path)
    for use in (store.ping, store.tidy):
        with pytest.raises(DolmenError) as again:
            use()
        assert again.value.code == "unavailable"
    assert refused.value.code == "unavailable"
    assert "moved, deleted or replaced" in refused.value.message
    assert "restart" in refused.value.fix
    store.close()


def test_a_store_whose_log_was_deleted_takes_no_write(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/memory.db")
    (tmp_path / "memory.db-wal").unlink()
    with pytest.raises(DolmenError) as refused, store.write() as tx:
        tx.accounts.add_vault("v", "Ada's", "o", "Ada")
    assert refused.value.code == "unavailable"
    store.close()
