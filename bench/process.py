"""What a process takes: processor time and memory, as the kernel counts them (Linux)."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int, *, ended_children: bool = False) -> float:
    """User and system time that the process has used so far; with ENDED_CHILDREN also theirs."""
    fields = _stat(pid)
    used = fields[11] + fields[12] + (fields[13] + fields[14] if ended_children else 0)
    return used / _TICKS


def tree_cpu_seconds(pid: int) -> float:
    """The same for a process and everything below it, living or ended."""
    return cpu_seconds(pid, ended_children=True) + sum(tree_cpu_seconds(child) for child in children(pid))


def children(pid: int) -> list[int]:
    found: list[int] = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, listed.read_text().split())
        except OSError:  # the thread has ended
            continue
    return found


def memory_mb(pid: int) -> float:
    """Resident memory (RSS), in MB of 1,000,000 bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def machine() -> str:
    """The class of the machine, for the head of a table: processors and memory."""
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    cores = len(os.sched_getaffinity(0))
    return f"Linux {os.uname().machine}, {cores} cores ({_processor()}), {pages * size / 2**30:.0f} GiB"


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "unnamed processor"


def _stat(pid: int) -> list[int]:
    """The numbers of /proc/PID/stat after the process's name and state, which may hold anything."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return [0] * 50
    return [0, *map(int, after_name[1:])]  # the state, a letter, keeps its place
