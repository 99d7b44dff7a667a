"""Measures what one client needs to launch on many hosts and to follow them: processor time, memory, and stalls of the app.

    python tests/bench/many_hosts.py --bin build/bin [--hosts 32] [--seconds 30] [--nice 19] [--require] [--json FILE]

Each host is a real sshd on a loopback port with its own home and one rank of a tiny model. All hosts run at nice 19, so that the
client has the processor time that it would have on its own machine. The client's processes are measured separately, one after the
other: `launch`, `watch` in a terminal, and the app's Monitor (tests/gui/follow_bench.cpp). At the end every rank's events must have
arrived, each step once. With --require, the exit status is 1 if a figure exceeds its limit: half a core, 200 MB, or a stall of 100 ms.
"""

import argparse
import json
import os
import pathlib
import pty
import subprocess
import tempfile
import threading
import time

import bench_arguments

LIMITS = {"cores": 0.5, "memory_mb": 200.0, "stall_ms": 100.0, "opening_stall_ms": 100.0}
TICKS = os.sysconf("SC_CLK_TCK")
START_PATIENCE = 300


class Process:
    """Runs a client in a terminal, and measures this process alone with the system's counters."""

    def __init__(self, command, env):
        self.master, slave = pty.openpty()
        self.said = b""
        self.process = subprocess.Popen([str(word) for word in command], stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True)
        os.close(slave)
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        try:
            while came := os.read(self.master, 65536):
                self.said = (self.said + came)[-8000:]
        except OSError:
            pass

    def figures(self):
        """Returns the process's processor seconds and peak memory in MB, or None after it has ended."""
        folder = pathlib.Path(f"/proc/{self.process.pid}")
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            status = (folder / "status").read_text()
        except OSError:
            return None
        if "VmHWM" not in status:
            return None
        return (int(fields[11]) + int(fields[12])) / TICKS, int(status.split("VmHWM:")[1].split()[0]) * 1.024e-3

    def to_its_end(self, patience):
        """Waits for the process to end; returns its wall time, processor seconds and peak memory."""
        began, last = time.monotonic(), (0.0, 0.0)
        while self.process.poll() is None:
            last = self.figures() or last
            if time.monotonic() - began > patience:
                self.process.kill()
                raise SystemExit(f"took longer than {patience} s:\n{self.said.decode(errors='replace')}")
            time.sleep(0.1)
        if self.process.returncode != 0:
            raise SystemExit(self.said.decode(errors="replace"))
        wall = time.monotonic() - began
        return {"wall_s": wall, "cores": last[0] / wall, "memory_mb": last[1]}


def steps_of(run, rank):
    """Returns the step numbers of a rank's step events, in the file's order."""
    try:
        text = (run / "events" / f"rank-{rank:05d}.jsonl").read_text()
    except FileNotFoundError:
        return []
    events = map(json.loads, text.split("\n")[:-1])
    return [event["step"] for event in events if event["type"] == "step"]


def serve(client, arguments):
    names = [f"n{i:02}" for i in range(arguments.hosts)]
    for name in names:  # chrt gives the servers normal priority, even if this script runs with real-time priority
        client.host(name, client.serve(name, inside=["chrt", "--other", "0", "nice", "-n", str(arguments.nice)]))
    return names


def config_of(folder, hosts):
    from ringmaster_runs import make_config, make_model, make_rows

    make_model(folder / "model", "llama", num_hidden_layers=2)
    make_rows(folder / "rows.jsonl", 4 * hosts)
    return make_config(folder, folder / "model", folder / "rows.jsonl", max_steps=1000000, micro_batch_size=1)


def follow(client, run, seconds):
    watch = Process([os.environ["RINGMASTER_BIN"] + "/ringmaster", "watch", run], client.env())
    time.sleep(5)  # time to log in to all hosts
    before, began, first = watch.figures(), time.monotonic(), len(steps_of(run, 0))
    time.sleep(seconds)
    after = watch.figures()
    if before is None or after is None:
        raise SystemExit(watch.said.decode(errors="replace"))
    figures = {"cores": (after[0] - before[0]) / (time.monotonic() - began), "memory_mb": after[1],
               "steps": len(steps_of(run, 0)) - first}
    watch.process.terminate()
    watch.process.wait(30)
    return figures


def in_the_app(client, run, seconds):
    program = pathlib.Path(os.environ["RINGMASTER_BIN"]).parent / "tests/follow_bench"
    done = subprocess.run([program, run, str(seconds)], capture_output=True, text=True, timeout=seconds + 120,
                          env=client.env(QT_QPA_PLATFORM="offscreen", XDG_CONFIG_HOME=str(client.folder / "settings")))
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def measure(arguments, folder):
    from ringmaster_runs import state_of, wait_for
    from sshd import Client

    client = Client(folder / "client")
    program = os.environ["RINGMASTER_BIN"] + "/ringmaster"
    run = folder / "runs/many"
    try:
        config = config_of(folder, arguments.hosts)
        names = serve(client, arguments)
        nodes = [word for name in names for word in ("--node", name)]
        figures = {}
        command = [program, "launch", config, "--runs-dir", folder / "runs", "--name", "many", "--ranks", arguments.hosts, *nodes, "--detach"]
        figures["launch"] = Process(command, client.env()).to_its_end(START_PATIENCE)
        mirror = Process([program, "watch", run], client.env())
        wait_for(lambda: len(steps_of(run, arguments.hosts - 1)) >= 3 or mirror.process.poll() is not None, "step 3", START_PATIENCE)
        if mirror.process.poll() is not None:
            raise SystemExit(mirror.said.decode(errors="replace"))
        mirror.process.terminate()
        mirror.process.wait(30)
        figures["watch"] = follow(client, run, arguments.seconds)
        figures["monitor"] = in_the_app(client, run, arguments.seconds)
        subprocess.run([program, "stop", run], env=client.env(), check=True, capture_output=True)
        Process([program, "watch", run], client.env()).to_its_end(120)
        if state_of(run)["state"] != "stopped":
            raise SystemExit(f"the run did not stop: {state_of(run)['reason']}")
        told = [steps_of(run, rank) for rank in range(arguments.hosts)]
        whole = list(range(1, len(told[0]) + 1))
        if not whole or any(steps != whole for steps in told):
            raise SystemExit("steps are missing or doubled")
        return figures
    finally:
        subprocess.run([program, "stop", "--now", run], env=client.env(), capture_output=True)
        client.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=32)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--nice", type=int, default=19, help="of the nodes")
    parser.add_argument("--require", action="store_true")
    arguments = bench_arguments.parse(parser)
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(arguments, pathlib.Path(folder))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")
    missed = []
    for phase, values in figures.items():
        print(f"{phase:8}" + "  ".join(f"{name} {value:.2f}" if isinstance(value, float) else f"{name} {value}" for name, value in values.items()))
        missed += [f"{phase}: {name} {values[name]:.2f} is above {limit:g}" for name, limit in LIMITS.items() if values.get(name, 0) > limit]
    if arguments.require and missed:
        raise SystemExit("\n".join(missed))


if __name__ == "__main__":
    main()
