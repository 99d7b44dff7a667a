"""Records a program's calls that change the disk, with the library of tests/e2e/crash_points.cpp, and disturbs a program at one of them:
the call fails, or the process is killed just before it."""

import collections
import dataclasses
import errno
import os
import pathlib
import subprocess

LIBRARY = pathlib.Path(os.environ["RINGMASTER_BIN"]).parent / "tests/crash_points.so"
HOWS = ("KILL", "EIO", "ENOSPC")


@dataclasses.dataclass(frozen=True)
class Point:
    call: str
    path: str
    nth: int  # index among the calls of that kind on that path, from 0
    how: str = ""

    @property
    def errno(self):
        return getattr(errno, self.how)


def watching(env, folders, **more):
    return {**env, "LD_PRELOAD": str(LIBRARY), "CRASH_UNDER": ":".join(str(folder) for folder in folders), **more}


def recorded(command, env, folders, log):
    """Runs the program undisturbed; returns its calls that change files below the folders."""
    done = subprocess.run(command, env=watching(env, folders, CRASH_LOG=str(log)), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    seen, points = collections.Counter(), []
    for line in log.read_text().splitlines():
        points.append(Point(*line.split(" ", 1), seen[line]))
        seen[line] += 1
    return points


def disturbed(command, env, folders, point):
    env = watching(env, folders, CRASH_AT=f"{point.call} {point.path}", CRASH_NTH=str(point.nth), CRASH_HOW=point.how)
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)


def points_of(log):
    """Returns every rename, unlink, rmdir and fsync, and the first, a middle and the last write of each file, once for each way to
    disturb it."""
    writes = collections.defaultdict(list)
    for point in log:
        if point.call == "write":
            writes[point.path].append(point)
    kept = {point for of_file in writes.values() for point in (of_file[0], of_file[len(of_file) // 2], of_file[-1])}
    return [dataclasses.replace(point, how=how) for point in log if point.call != "write" or point in kept for how in HOWS]


def spread(cases, count):
    """Returns at most `count` evenly spread cases. The stride is not a multiple of the number of ways to disturb a call, so that each
    way occurs."""
    step = max(1, len(cases) // count)
    step -= step % len(HOWS) == 0
    return cases[step // 2::step][:count]
