#!/usr/bin/env python3
"""Measures the page of `ringmaster serve` in headless Chromium: the time to the first paint, the time until a run of 64 ranks x 10,000
steps is drawn, and the processor time of following a run.

    tests/bench/browser_page.py --bin build/bin [--require] [--json FILE]

With --require the exit status is 1 if a figure is above its limit.
"""

import argparse
import json
import os
import pathlib
import random
import sys
import tempfile
import threading
import time

import bench_arguments

RANKS, STEPS = 64, 10_000
LIMITS = {"first_paint_s": 0.5, "whole_s": 2.0, "followed_cores": 0.1}
ROOT = pathlib.Path(__file__).resolve().parents[2]


def step_line(rank, step, t, noise):
    loss = 1.7 + 7 * 0.99**step + 0.05 * noise
    return (f'{{"type":"step","t":{t:.3f},"rank":{rank},"step":{step},"epoch":{step / 500:.4f},"loss":{loss:.6f},"rank_loss":{loss + 0.1 * noise:.6f},"tokens":131072,'
            f'"valid_tokens":131000,"rank_valid_tokens":2046,"lr":2e-05,"grad_norm":{0.6 + 0.1 * noise:.4f},"step_s":{0.5 + 0.01 * noise:.5f},"compute_s":0.43,"comm_s":0.1,'
            f'"exposed_comm_s":{0.05 + 0.01 * noise:.5f},"comm_bytes":1000000,"data_s":0.002,"memory_bytes":60000000000,"peak_memory_bytes":61000000000,"tokens_per_s":262144}}\n')


def write_run(folder, ranks, steps, state):
    (folder / "events").mkdir(parents=True)
    (folder / "config.yaml").write_text("base_model: x\n")
    now, noise = time.time(), random.Random(1)
    stat = pathlib.Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()
    writer = {"host": os.uname().nodename, "pid": os.getpid(), "start_time": int(stat[19]),
              "boot_id": pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()}
    (folder / "run.json").write_text(json.dumps({"name": folder.name, "state": state, "reason": "", "attempt": 1, "ranks": ranks, "created": now, "started": now - steps / 2,
                                                 "ended": now if state == "completed" else 0, "updated": now, "writer": writer, "nodes": []}))
    for rank in range(ranks):
        with open(folder / f"events/rank-{rank:05}.jsonl", "w") as events:
            for step in range(1, steps + 1):
                events.write(step_line(rank, step, now - (steps - step) / 2, noise.uniform(-1, 1)))


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tree_cpu_s(root):
    """Returns the processor time, in seconds, of a running process and its running descendants."""
    parents = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            pass
    tree = {root}
    while more := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= more
    used = 0
    for pid in tree:
        try:
            used += cpu_s(pid)
        except OSError:
            pass
    return used


def opened(served, name, steps):
    """Returns the seconds until the first paint and until all steps are drawn, and the processor time of the server and
    of the browser. A new browser opens the page, so nothing is cached."""
    from browser import Browser
    tab = Browser()
    try:
        tab.ask("1")
        before = tree_cpu_s(tab.process.pid)
        began = time.monotonic()
        tab.open(served.url._replace(fragment=name).geturl())
        tab.wait("document.querySelectorAll('#charts .plot canvas').length > 13", 60)
        tab.wait(f"document.querySelector('#figures dd').textContent.replace(/\\D/g, '').startsWith('{steps}')", 60)
        # The page has read all steps once its curve has more than 500 points and none of them is missing.
        page = served.url.path
        tab.wait(f"fetch('{page}run/{name}').then((answer) => answer.json()).then((run) => run.curves.loss.mean.length > 500 && !run.curves.loss.mean.includes(null))", 60)
        whole = time.monotonic() - began
        paint = tab.wait("(performance.getEntriesByName('first-contentful-paint')[0] || {}).startTime") / 1000
        return paint, whole, cpu_s(served.process.pid), tree_cpu_s(tab.process.pid) - before
    finally:
        tab.close()


def followed(served, folder, ranks, steps, seconds):
    """Returns how many cores the server uses while one tab follows a run of ten steps per second."""
    from browser import Browser
    tab, done = Browser(), threading.Event()

    def write():
        noise, step = random.Random(2), steps
        files = [open(folder / f"events/rank-{rank:05}.jsonl", "a") for rank in range(ranks)]
        while not done.wait(0.1):
            step += 1
            for rank, events in enumerate(files):
                events.write(step_line(rank, step, time.time(), noise.uniform(-1, 1)))
                events.flush()

    try:
        tab.open(served.url._replace(fragment=folder.name).geturl())
        tab.wait("document.querySelectorAll('#charts .plot canvas').length > 13", 60)
        writer = threading.Thread(target=write)
        writer.start()
        time.sleep(2)
        before, began = cpu_s(served.process.pid), time.monotonic()
        first = tab.ask("document.querySelector('#figures dd').textContent")
        time.sleep(seconds)
        used = (cpu_s(served.process.pid) - before) / (time.monotonic() - began)
        assert tab.ask("document.querySelector('#figures dd').textContent") != first, "the page does not follow"
        done.set()
        writer.join()
        return used
    finally:
        done.set()
        tab.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--require", action="store_true")
    arguments = bench_arguments.parse(parser)
    sys.path.insert(0, str(ROOT / "tests/launcher"))
    from test_serve_command import Served
    with tempfile.TemporaryDirectory() as home:
        runs = pathlib.Path(home) / "runs"
        write_run(runs / "many", RANKS, STEPS, "completed")
        write_run(runs / "live", 8, 2000, "running")
        figures = {}
        tries = []
        for _ in range(3):  # a fresh server each time, because a server caches what it has read
            served = Served("--all", "--runs-dir", runs)
            tries.append(opened(served, "many", STEPS))
            served.end()
        for at, name in enumerate(("first_paint_s", "whole_s", "server_cpu_s", "browser_cpu_s")):
            figures[name] = min(figures_of_try[at] for figures_of_try in tries)
        served = Served("--all", "--runs-dir", runs)
        figures["followed_cores"] = followed(served, runs / "live", 8, 2000, 10)
        served.end()
    missed = [name for name, limit in LIMITS.items() if figures[name] > limit]
    for name, figure in figures.items():
        print(f"{name:20} {figure:8.3f}   limit {LIMITS.get(name, 'none')}{'   ABOVE' if name in missed else ''}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures))
    return 1 if missed and arguments.require else 0


if __name__ == "__main__":
    sys.exit(main())
