"""Plays a malicious node, as the login shell of test_hostile_node.py's server. It answers each script that it receives as an honest
node would, except for the answers that the attack named in FOLDER/attack replaces.

    python3 hostile_node.py FOLDER
"""

import itertools
import json
import pathlib
import re
import sys
import time

RUN_ID, RUN, PROGRAMS = "0123456789ab", "r1", "0123456789abcdef"
MIB = 1 << 20
HUGE = 9223372036854775807
TEXT = "\x1b]0;owned\x07\x1b[2J<img src=\"file:///dev/zero\">$(touch hostile-canary)"


# ------------------------------------------------------------------------------------------------ what an honest node would say


def process(**changes):
    return {"host": "liar", "pid": 4711, "start_time": 1, "boot_id": "b", **changes}


def state(**changes):
    whole = {"name": RUN, "state": "running", "reason": "", "attempt": 1, "ranks": 2, "created": 1.5e9, "started": 1.5e9, "ended": 0, "updated": 1.5e9,
             "writer": process(), "nodes": [{"host": "liar", "agent": process(), "ranks": [{"rank": rank, **process()} for rank in range(2)]}]}
    return json.dumps({**whole, **changes}).encode()


def over(word="completed", **changes):
    return state(state=word, ended=1.5e9, **changes)


def remote(folder, **changes):
    data = f"{folder}/home/data/ringmaster"
    node = {"target": "liar", "run_dir": f"{data}/runs/{RUN_ID}/{RUN}", "agent": f"{data}/programs/{PROGRAMS}/bin/ringmaster-agent", "address": "127.0.0.1",
            "first_rank": 0, "ranks": 2}
    return json.dumps({"ranks": 2, "adopted": False, "nodes": [node], **changes}).encode()


def two_nodes(folder, **changes):
    first = json.loads(remote(folder))["nodes"][0]
    second = {**first, "target": "victim", "agent": "/bin/touch", "run_dir": "/tmp/hostile-canary", "address": "127.0.0.9", "first_rank": 1, **changes}
    return remote(folder, nodes=[{**first, "ranks": 1}, {**second, "ranks": 1}])


def step(number=1, rank=0, **changes):
    return json.dumps({"type": "step", "t": 1.5e9 + 1, "rank": rank, "step": number, "loss": 1.0, "tokens": 8, "step_s": 0.1, **changes}).encode() + b"\n"


def warning(text):
    return json.dumps({"type": "warning", "t": 1, "rank": 0, "message": text}).encode()


def files(name, offset, data):
    return b"file %s %d %d\n%s" % (name if isinstance(name, bytes) else name.encode(), offset, len(data), data)


EVENTS = "events/rank-00000.jsonl"


def told(text):
    return b"state %d\n%s" % (len(text), text)


def line_of(prefix, text):
    return b"".join(prefix + b" " + line + b"\n" for line in text.split(b"\n") if line)


def looked(folder, run=None, address=b"127.0.0.1", data=None, more=b"", state_text=None, remote_text=None, end=b"end\n", directory=None):
    data = (f"{folder}/home/data/ringmaster".encode() if data is None else data)
    directory = data + b"/runs/%s/%s" % (RUN_ID.encode(), RUN.encode()) if directory is None else directory
    return (b"ringmaster\naddress " + address + b"\ndata " + data + b"\nname " + RUN.encode() + b"\n" + more + b"run 0 " + directory + b"\n" +
            line_of(b"state", state() if state_text is None else state_text) + line_of(b"remote", remote(folder) if remote_text is None else remote_text) +
            b"total 6\nstep " + step() + end)


def facts(**changes):
    said = {"host_name": "liar", "system": "Linux", "architecture": "x86_64", "boot_id": "b", "glibc": "glibc 2.99", "cores": 4, "memory_kb": 8 << 20,
            "available_kb": 4 << 20, "home": "/home/liar", "clock": int(time.time()), "address": "127.0.0.1", "interface": "lo", "sha256sum": "yes",
            "data_dir": "/home/liar/data/ringmaster", "writable": "yes", "executable": "yes", "disk_kb": 100 << 20, "libtorch": "/opt/torch/lib", **changes}
    return "".join(f"{key} {value}\n" for key, value in said.items()).encode() + b"end ok\n"


def manifest(*entries):
    """Returns a node's list of files. Entries are (name, size) or (name, size, hash)."""
    lines = b"".join(b"%s  ./%s\n" % ((entry[2] if len(entry) > 2 else b"0" * 64), entry[0]) for entry in entries)
    return lines + b"sizes\n" + b"".join(b"%7d ./%s\n" % (entry[1], entry[0]) for entry in entries)


GOOD = {
    "facts": lambda folder: facts(),
    "look": looked,
    "follow": lambda folder: itertools.chain([told(state()), files(EVENTS, 0, step())], beats()),
    "manifest": lambda folder: manifest((b"config.json", 2, b"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a")),
    "content": lambda folder: b"{}",
    "config": lambda folder: b"base_model: x\n",
    "plan": lambda folder: (folder / "plan.json").read_bytes(),
    "checkpoints": lambda folder: b"step-00000002\n",
    "stop": lambda folder: b"asked\n",
    "other": lambda folder: b"",
}


def beats():
    while True:
        yield b"beat\n"
        time.sleep(0.5)


# ----------------------------------------------------------------------------------------------------- how this node
# differs from an honest one


def flood(piece=bytes(MIB)):
    while True:
        yield piece


def drip(text):
    for byte in itertools.chain(text, itertools.repeat(65)):
        yield bytes([byte])
        time.sleep(0.2)


def then(*pieces):
    """Returns an answer that sends the pieces, and then heartbeats without end."""
    return lambda folder: itertools.chain([piece(folder) if callable(piece) else piece for piece in pieces], beats())


def mirrored(*pieces):
    return {"follow": then(told(state()), *pieces)}


def elsewhere(folder):
    return str(folder.parent.parent / "home/.bashrc").encode()


def nested(depth, inside=b""):
    return b"[" * depth + inside + b"]" * depth


COMPLETED = {"follow": lambda folder: iter([told(over()), b"over\n"])}
EVIL = b"evil\n"

# Maps an attack's name to (command, {kind of answer: what to send instead}). `plant` puts something into the run
# directory; `patience` is the number of seconds until SIGTERM.
ATTACKS = {
    # These attacks name files that the node must not write.
    "plan.json": ("watch", mirrored(files("plan.json", 0, EVIL))),
    "config.yaml": ("watch", mirrored(files("config.yaml", 0, EVIL))),
    "remote.json": ("watch", mirrored(files("remote.json", 0, EVIL))),
    "run.json as a file": ("watch", mirrored(files("run.json", 0, EVIL))),
    "options.json": ("watch", mirrored(files("options.json", 0, EVIL))),
    "the lock": ("watch", mirrored(files("mirror.lock", 0, EVIL))),
    "the model": ("watch", mirrored(files("output/model.safetensors", 0, EVIL))),
    "above the run": ("watch", mirrored(files("../../../../../home/.bashrc", 0, EVIL))),
    "events and above": ("watch", mirrored(files("events/../../evil", 0, EVIL))),
    "dots in its own file's name": ("watch", mirrored(files("events/./rank-00000.jsonl", 0, EVIL))),
    "an absolute name": ("watch", mirrored(lambda folder: files(elsewhere(folder), 0, EVIL))),
    "a name with blanks": ("watch", mirrored(lambda folder: files(b"events/rank-00000.jsonl 0 5 " + elsewhere(folder), 0, EVIL))),
    "a name with NUL": ("watch", mirrored(files(b"events/rank-00000.jsonl\0/../../plan.json", 0, EVIL))),
    "another rank's events": ("watch", mirrored(files("events/rank-00002.jsonl", 0, step(rank=2)))),
    "another node's log": ("watch", mirrored(files("node-1/agent.log", 0, EVIL))),
    "an empty name": ("watch", mirrored(files("", 0, EVIL))),
    # These attacks use wrong offsets, sizes and frames.
    "far behind the end": ("watch", mirrored(files(EVENTS, 1 << 40, step()))),
    "before the beginning": ("watch", mirrored(files(EVENTS, -5, step()))),
    "over what is there": ("watch", mirrored(files(EVENTS, 0, step()), files(EVENTS, 0, step(5)))),
    "an offset of many digits": ("watch", mirrored(b"file " + EVENTS.encode() + b" " + b"9" * 40 + b" 5\nevil\n")),
    "a negative size": ("watch", mirrored(b"file " + EVENTS.encode() + b" 0 -5\nevil\n")),
    "a size of 64 bits": ("watch", mirrored(b"file %s 0 %d\nevil\n" % (EVENTS.encode(), HUGE))),
    "a state of 1 GiB": ("watch", {"follow": lambda folder: itertools.chain([b"state 1073741824\n"], flood())}),
    "half a frame": ("watch", {"follow": lambda folder: iter([told(state()), b"file " + EVENTS.encode() + b" 0 500\nhalf"])}),
    "half a head": ("watch", {"follow": lambda folder: iter([told(state()), b"file " + EVENTS.encode()])}),
    "no frame at all": ("watch", mirrored(b"\0\1\2\n\n\nHTTP/1.1 200 OK\n")),
    # These attacks put links into the run directory.
    "a link in place of a file": ("watch", {**mirrored(files(EVENTS, 0, EVIL)), "plant": lambda run, home: (run / EVENTS).symlink_to(home / ".bashrc")}),
    "a link in place of the samples": ("watch", {**mirrored(files("samples.jsonl", 0, EVIL)), "plant": lambda run, home: (run / "samples.jsonl").symlink_to(home / ".bashrc")}),
    "a link to nothing": ("watch", {**mirrored(files(EVENTS, 0, EVIL)), "plant": lambda run, home: (run / EVENTS).symlink_to(home / "made")}),
    "a link in place of a folder": ("watch", {**mirrored(files(EVENTS, 0, EVIL)), "plant": lambda run, home: ((run / "events").rmdir(),
                                                                                                                (run / "events").symlink_to(home))}),
    # These attacks send without end, or one byte at a time.
    "zeros for ever": ("watch", {"follow": lambda folder: flood()}),
    "beats for ever": ("watch", {"follow": lambda folder: flood(b"beat\n" * 200000)}),
    "states for ever": ("watch", {"follow": lambda folder: flood(b"".join(told(state(attempt=number)) for number in range(100)))}),
    "a head without end": ("watch", {"follow": lambda folder: itertools.chain([told(state())], flood(b"f" * MIB))}),
    "before the mark": ("watch", {"noise": lambda folder: flood(b"motd\n" * 200000)}),
    "errors for ever": ("watch", {"stderr": lambda folder: flood(b"\x1b[31merror\n" * 90000)}),
    "events without a line's end": ("watch", mirrored(*[lambda folder, at=at: files(EVENTS, at * MIB, b"x" * MIB) for at in range(40)])),
    "a byte now and then": ("watch", {"follow": lambda folder: drip(b"state 99999\n")}),
    "a byte now and then before the mark": ("watch", {"noise": lambda folder: drip(b"motd")}),
    # These attacks put extreme numbers, depths and texts into run.json.
    "2147483647 ranks": ("watch", mirrored(told(state(ranks=2147483647)))),
    "65536 ranks": ("watch", mirrored(told(state(ranks=65536)))),
    "-1 ranks": ("watch", mirrored(told(state(ranks=-1)))),
    "an attempt of 64 bits": ("watch", mirrored(told(state(attempt=HUGE)))),
    "a run of the year 1e300": ("watch", mirrored(told(state(started=1e300, updated=-1e300)))),
    "a pid of -1": ("watch", mirrored(told(state(writer=process(pid=-1))))),
    "another host's process": ("watch", mirrored(told(state(writer=process(host="", pid=1), nodes=[{"host": "", "agent": process(host="", pid=1), "ranks": []}])))),
    "a deep state": ("watch", mirrored(told(nested(50000)))),
    "a state deep inside": ("watch", mirrored(told(state()[:-2] + nested(50000, b"1") + b"}"))),
    "a state of 500,000 objects": ("watch", mirrored(lambda folder: told(b"[" + b"{}," * 500000 + b"{}]"))),
    "a state that is none": ("watch", mirrored(told(state(state="owned")))),
    "a reason with escapes": ("watch", {"follow": lambda folder: iter([told(over("failed", reason=TEXT * 100)), b"over\n"])}),
    "over without an end": ("watch", mirrored(b"over\n")),
    # These attacks send extreme events.
    "step 9223372036854775807": ("watch", mirrored(files(EVENTS, 0, step(HUGE) * 20))),
    "steps below 0": ("watch", mirrored(files(EVENTS, 0, step(-HUGE) + step(-1)))),
    "steps far apart": ("watch", mirrored(lambda folder: files(EVENTS, 0, b"".join(step(number * 10**9) for number in range(5000))))),
    "steps backwards": ("watch", mirrored(lambda folder: files(EVENTS, 0, b"".join(step(number) for number in range(8000, 0, -1))))),
    "tokens of 64 bits": ("watch", mirrored(files(EVENTS, 0, step(tokens=HUGE, memory_bytes=-HUGE, step_s=1e308) * 20))),
    "a deep event": ("watch", mirrored(lambda folder: files(EVENTS, 0, b'{"type":"step","t":1,"rank":0,"step":1,"x":' + nested(200000) + b"}\n"))),
    "long warnings": ("watch", mirrored(*[lambda folder, at=at: files(EVENTS, at * 60000, warning(f"{at:02d}" + "w" * 59000).ljust(59999) + b"\n") for at in range(400)])),
    "warnings with escapes": ("watch", mirrored(files(EVENTS, 0, warning(TEXT) + b"\n"))),
    # These attacks offer a model's folder that contains something else.
    "a model outside": ("watch", {**COMPLETED, "manifest": lambda folder: manifest((b"../../home/.bashrc", 5), (b"/etc/evil", 5), (b"a/../../b.json", 5)),
                                  "content": lambda folder: EVIL}),
    "hidden files in the model": ("watch", {**COMPLETED, "manifest": lambda folder: manifest((b".bashrc", 5), (b"-rf.json", 5), (b"evil.py", 5), (b"a\x1b.json", 5)),
                                            "content": lambda folder: EVIL}),
    "a model of 2^62 bytes": ("watch", {**COMPLETED, "manifest": lambda folder: manifest((b"model.safetensors", 1 << 62))}),
    "a million files": ("watch", {**COMPLETED, "manifest": lambda folder: manifest(*[(b"m%07d.json" % number, 1) for number in range(150000)])}),
    # These attacks are for `fetch`.
    "fetch: outside": ("fetch", {"follow": COMPLETED["follow"], "manifest": lambda folder: manifest((b"../../home/.bashrc", 5), (b"/etc/evil.json", 5)),
                                 "content": lambda folder: EVIL}),
    "fetch: larger than the disk": ("fetch", {**COMPLETED, "manifest": lambda folder: manifest((b"model.safetensors", 1 << 45))}),
    "fetch: a negative size": ("fetch", {**COMPLETED, "manifest": lambda folder: manifest((b"model.safetensors", -1))}),
    "fetch: no size": ("fetch", {**COMPLETED, "manifest": lambda folder: b"0" * 64 + b"  ./model.safetensors\nsizes\n"}),
    "fetch: a flood of content": ("fetch", {**COMPLETED, "manifest": lambda folder: manifest((b"model.safetensors", 1000)), "content": lambda folder: flood()}),
    "fetch: other content": ("fetch", {**COMPLETED, "content": lambda folder: b"xx"}),
    "fetch: less content": ("fetch", {**COMPLETED, "content": lambda folder: b"{"}),
    "fetch: a manifest without end": ("fetch", {**COMPLETED, "manifest": lambda folder: flood(b"0" * 64 + b"  ./a.json\n")}),
    "fetch: a link in place of a part": ("fetch", {**COMPLETED, "plant": lambda run, home: (home.parent / "out/config.json.part").symlink_to(home / ".bashrc")}),
    "fetch: a checkpoint outside": ("fetch --checkpoint 2", {**COMPLETED, "manifest": lambda folder: manifest((b"../../../../evil.json", 5)), "content": lambda folder: EVIL}),
    "fetch: a state without end": ("fetch", {"follow": lambda folder: flood(b"state ")}),
    "fetch: a byte now and then": ("fetch", {**COMPLETED, "manifest": lambda folder: drip(b"0"), "patience": 5}),
    # These attacks offer runs that other machines launched, which the program adopts.
    "adopt: another host": ("adopt", {"look": lambda folder: looked(folder, remote_text=two_nodes(folder))}),
    "adopt: another host first": ("adopt", {"look": lambda folder: looked(folder, address=b"127.0.0.8", remote_text=two_nodes(folder, address="127.0.0.8"))}),
    "adopt: another agent": ("adopt", {"look": lambda folder: looked(folder, remote_text=remote(folder).replace(b"/home/data/ringmaster/programs/" + PROGRAMS.encode(), b"/../bin"))}),
    "adopt: a target that is more": ("adopt", {"look": lambda folder: looked(folder, remote_text=remote(folder).replace(b'"liar"', b'"-oProxyCommand=touch hostile-canary"'))}),
    "adopt: ranks that overlap": ("adopt", {"look": lambda folder: looked(folder, remote_text=two_nodes(folder, first_rank=0))}),
    "adopt: ranks without end": ("adopt", {"look": lambda folder: looked(folder, remote_text=remote(folder, ranks=2147483647))}),
    "adopt: a deep remote.json": ("adopt", {"look": lambda folder: looked(folder, remote_text=nested(50000))}),
    "adopt: output_dir is the home": ("adopt", {"plan": lambda folder: re.sub(rb'"output_dir": *"[^"]*"', b'"output_dir": "%s"' % elsewhere(folder)[:-8], GOOD["plan"](folder)),
                                                "follow": COMPLETED["follow"]}),
    "adopt: a deep plan.json": ("adopt", {"plan": lambda folder: b'{"config":' + nested(50000) + b"}"}),
    "adopt: a plan.json without end": ("adopt", {"plan": lambda folder: flood(b" " * MIB)}),
    "adopt: a config.yaml without end": ("adopt", {"config": lambda folder: flood(b"#" * MIB)}),
    "adopt: a data folder above": ("adopt", {"look": lambda folder: looked(folder, data=b"/x/../..")}),
    "adopt: a run's name above": ("adopt", {"look": lambda folder: looked(folder, directory=b"/x/runs/../..")}),
    # These attacks are for the list of runs.
    "runs: a deep state": ("runs", {"look": lambda folder: looked(folder, state_text=nested(50000))}),
    "runs: names without end": ("runs", {"look": lambda folder: flood(b"name x\n" * 100000)}),
    "runs: half a million": ("runs", {"look": lambda folder: looked(folder, more=b"run 0 /x/a/b\n" * 500000)}),
    "runs: escapes": ("runs", {"look": lambda folder: looked(folder, state_text=over("failed", reason=TEXT))}),
    "runs: step 9223372036854775807": ("runs", {"look": lambda folder: looked(folder, end=b"total %d\nstep " % HUGE + step(HUGE) + b"end\n")}),
    "runs: a deep step": ("runs", {"look": lambda folder: looked(folder, end=b'step {"step":' + nested(1000000) + b"}\nend\n")}),
    "runs: nodes of 64 bits": ("runs", {"look": lambda folder: looked(folder).replace(b"run 0 ", b"run 18446744073709551615 ")}),
    # These attacks falsify a machine's facts.
    "nodes: numbers of 64 bits": ("nodes", {"facts": lambda folder: facts(cores=HUGE, memory_kb=HUGE, available_kb=-HUGE, disk_kb=HUGE, clock=-HUGE)}),
    "nodes: a million GPUs": ("nodes", {"facts": lambda folder: b"gpu 0, 81559, 12, GPU-1, H100\n" * 300000 + facts()}),
    "nodes: escapes": ("nodes", {"facts": lambda folder: facts(host_name=TEXT, write_problem=TEXT, glibc="glibc " + TEXT, driver=TEXT)}),
    "nodes: a home that is a command": ("nodes", {"facts": lambda folder: facts(data_dir="-rf $(touch hostile-canary)", libtorch="../..", address="$(touch hostile-canary)")}),
    "nodes: long lines": ("nodes", {"facts": lambda folder: facts(host_name="x" * 9 * MIB)}),
    "nodes: never ends": ("nodes", {"facts": lambda folder: flood(b"system Linux\n" * 90000)}),
    "nodes: a byte now and then": ("nodes", {"facts": lambda folder: drip(b"system Linux"), "patience": 5}),
    # These attacks are for `stop` and `resume`.
    "stop: a byte now and then": ("stop", {"stop": lambda folder: drip(b"asked")}),
    "resume: a byte now and then": ("resume", {"facts": lambda folder: drip(b"system Linux"), "patience": 5}),
    "stop: a flood": ("stop", {"stop": lambda folder: flood()}),
    "stop: escapes": ("stop", {"stop": lambda folder: TEXT.encode() + b"\n", "follow": COMPLETED["follow"]}),
    "resume: steps without end": ("resume", {**COMPLETED, "follow": lambda folder: iter([told(over("failed"))]), "checkpoints": lambda folder: b"step-%d\n" % HUGE * 100000}),
    "resume: a checkpoint outside": ("resume", {"follow": lambda folder: iter([told(over("failed"))]), "manifest": lambda folder: manifest((b"../../plan.json", 5)),
                                                "content": lambda folder: EVIL}),
    "resume: another run's state": ("resume", {"follow": lambda folder: iter([told(over("failed", name="../../evil", attempt=9, ranks=65536, reason=TEXT))]),
                                               "checkpoints": lambda folder: b"../../evil\nstep-00000002/../..\n"}),
}

# Lists a selection of attacks, which takes seconds. The other attacks run only under the label exhaustive.
SPREAD = ["plan.json", "a link in place of a file", "2147483647 ranks", "a model outside", "fetch: outside", "adopt: another host", "runs: half a million",
          "nodes: numbers of 64 bits", "nodes: never ends", "stop: a flood"]


def kind_of(script):
    for words, kind in ((b"say host_name", "facts"), (b"echo end", "look"), (b"--follow", "follow"), (b"sha256sum", "manifest"), (b"tail -c +", "content"),
                        (b"/config.yaml", "config"), (b"/plan.json", "plan"), (b"step-*", "checkpoints"), (b"--stop", "stop")):
        if words in script:
            return kind
    return "other"


def say(kind, answers, folder, out):
    """Writes FOLDER/said-KIND, for which the test waits."""
    said = answers[kind](folder)
    for piece in [said] if isinstance(said, bytes) else said:
        out.write(piece)
        out.flush()
        (folder / f"said-{kind}").touch()


def main(folder):
    answers = {**GOOD, **ATTACKS.get((folder / "attack").read_text(), ("", {}))[1]}  # other names mean no attack
    length = int(sys.stdin.buffer.readline())
    script = sys.stdin.buffer.read(length)
    mark = re.search(rb"ringmaster-[0-9a-f]{32}", script).group()
    try:
        if "noise" in answers:
            say("noise", answers, folder, sys.stdout.buffer)
        sys.stdout.buffer.write(b"\n" + mark + b"\n")
        if "stderr" in answers:
            sys.stdout.buffer.flush()
            say("stderr", answers, folder, sys.stderr.buffer)
        say(kind_of(script), answers, folder, sys.stdout.buffer)
    except BrokenPipeError:
        pass


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
