"""Where the store's file lies: made private, and never on a file system that several machines share.

SQLite's write-ahead log needs memory that all processes share, which a network file system cannot give (B059:
https://sqlite.org/wal.html, "Disadvantages").
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

from dolmen.domain.errors import DolmenError

HEADER = b"SQLite format 3\0"
"""How every SQLite file begins (https://sqlite.org/fileformat2.html, 1.3)."""

# fmt: off
NETWORK = frozenset([
    "nfs", "nfs3", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "afs", "afpfs", "9p", "ceph", "glusterfs", "lustre",
    "gpfs", "beegfs", "orangefs", "pvfs2", "ncpfs", "webdav", "davfs", "sshfs", "macfuse", "fuse.sshfs",
    "fuse.glusterfs", "fuse.ceph", "fuse.davfs2", "fuse.s3fs", "fuse.rclone", "fuse.gcsfuse",
])
# fmt: on
"""Types of file system that other machines can write at the same time, as Linux and macOS name them."""


def prepare(path: Path) -> None:
    """Makes the folder (0700) and the file (0600) when they are not there.

    Raises DolmenError `store-unsafe` on a network file system, `unavailable` when they cannot be made,
    `store-foreign` for a file that is no SQLite file.
    """
    try:
        missing = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
        refuse_network(path.parent, file_system(path.parent))
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        try:
            beginning = os.read(descriptor, len(HEADER))
        finally:
            os.close(descriptor)
    except OSError as error:
        raise DolmenError(
            "unavailable",
            f"{path} cannot be opened: {error.strerror or 'the system refused'}.",
            "Check that the folder is there and that you may write in it, or set another one in DOLMEN_DATABASE.",
        ) from error

    if beginning not in (b"", HEADER):  # SQLite itself would take a very short file for an empty one and overwrite it
        raise foreign(path)


def foreign(path: Path) -> DolmenError:
    """The refusal of a file that something else made."""
    return DolmenError(
        "store-foreign",
        f"{path} is not a Dolmen store, and was left as it is.",
        "Set DOLMEN_DATABASE to another path. If it was one once, it is damaged: restore a backup in its place.",
    )


def identity(path: Path) -> tuple[int, int] | None:
    """Device and number of the file that has this name now; None when none has."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def moved(path: Path) -> DolmenError:
    """The refusal to go on with an open file that its name no longer leads to."""
    return DolmenError(
        "unavailable",
        f"{path} was moved, deleted or replaced while it was open: nothing is stored or read any more.",
        "Put the file back or restore a backup there, restart Dolmen, then repeat the last change.",
    )


def refuse_network(folder: Path, kind: str | None) -> None:
    """Raises DolmenError `store-unsafe` for a type of file system that machines share."""
    if kind in NETWORK:
        raise DolmenError(
            "store-unsafe",
            f"{folder} is on a network file system ({kind}), where several processes would damage the store.",
            "Set DOLMEN_DATABASE to a file on a local disk, or to a PostgreSQL server that several machines can use.",
        )


def file_system(folder: Path) -> str | None:
    """The type of file system that a folder is on; None when the system does not say. `nfs` for a Windows share."""
    system = platform.system()
    if system == "Linux":
        try:
            return linux_type(folder.resolve(), Path("/proc/self/mountinfo").read_text(encoding="utf-8"))
        except OSError:
            return None
    if system == "Darwin":
        try:
            found = subprocess.run(["/sbin/mount"], capture_output=True, text=True, timeout=5, check=True)
        except (OSError, subprocess.SubprocessError):
            return None
        return macos_type(folder.resolve(), found.stdout)
    return _windows_type(folder) if system == "Windows" else None


def linux_type(folder: Path, mountinfo: str) -> str | None:
    """The type by the text of /proc/self/mountinfo (proc_pid_mountinfo(5)); the last mount over a folder counts."""
    best, kind = -1, None
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), left.split(" ")[4])
        if folder.is_relative_to(point) and len(Path(point).parts) >= best:
            best, kind = len(Path(point).parts), right.split(" ")[0]
    return kind


def macos_type(folder: Path, mounts: str) -> str | None:
    """The type by the output of `mount`: lines such as `//u@h/s on /Volumes/s (smbfs, nodev)`."""
    best, kind = -1, None
    for line in mounts.splitlines():
        found = re.fullmatch(r".+ on (/.*) \((\w+)[,)].*", line)
        if found and folder.is_relative_to(found[1]) and len(Path(found[1]).parts) >= best:
            best, kind = len(Path(found[1]).parts), found[2]
    return kind


def _windows_type(folder: Path) -> str | None:
    import ctypes

    remote = 4  # DRIVE_REMOTE, GetDriveTypeW
    anchor = folder.resolve().anchor
    windows = getattr(ctypes, "windll")  # noqa: B009 - other systems do not have it
    return "nfs" if anchor.startswith("\\\\") or windows.kernel32.GetDriveTypeW(anchor) == remote else None
