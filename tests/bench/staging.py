"""Compares the speed of staging files on a machine with sftp in the same run, and measures what an unchanged or cut file transfers.

    python tests/bench/staging.py --bin build/bin [--mb 500] [--rounds 5] [--require 0.7] [--json FILE]

The server is a real sshd on loopback, without traffic shaping. Each round copies the same random file to empty folders, first with
sftp and then with our code (tests/bench/stage_file.cpp, as in a launch). Both are timed as whole processes, logging in included.
Ours reads the file twice, to hash it and to send it, and verifies what arrived. The stored hash is deleted before each round. The
ratio compares each side's fastest round, which was disturbed least.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import bench_arguments

MB = 1_000_000


def timed(command, **options):
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, **options)
    took = time.monotonic() - began
    if done.returncode != 0:
        raise SystemExit(f"{command}: {done.stdout}{done.stderr}")
    return took, done.stdout


def with_sftp(client, server, file, folder):
    to = folder / "sftp.bin"
    took, _ = timed(["sftp", "-q", "-F", client.config, "-b", "-", "a"], input=f"put {file} {to}\n", env=client.env())
    whole = subprocess.run(["cmp", file, to]).returncode == 0
    to.unlink()
    if not whole:
        raise SystemExit("sftp brought something else")
    return took


def with_ours(client, server, file, folder):
    shutil.rmtree(client.folder / "cache", ignore_errors=True)
    took, said = timed([os.environ["RINGMASTER_BIN"] + "/../tests/stage_file", "a", file, folder / "ours" / "model.bin"],
                       env=client.env(XDG_CACHE_HOME=str(client.folder / "cache")))
    whole = subprocess.run(["cmp", file, folder / "ours" / "model.bin"]).returncode == 0
    shutil.rmtree(folder / "ours")
    if not whole:
        raise SystemExit("ours brought something else")
    return took, json.loads(said)


def measure(arguments, folder):
    from sshd import Client

    client = Client(folder / "client")
    try:
        server = client.serve("a", options=["Subsystem sftp internal-sftp"])
        client.host("a", server)
        file = folder / "model.bin"
        with open(file, "wb") as out:
            for _ in range(arguments.mb):
                out.write(os.urandom(MB))
        sides = {"sftp": [], "ours": []}
        inside = []
        for _ in range(arguments.rounds):
            sides["sftp"].append(with_sftp(client, server, file, folder))
            took, said = with_ours(client, server, file, folder)
            sides["ours"].append(took)
            inside.append(said["stage_s"])
        seconds = {side: min(took) for side, took in sides.items()}
        return {"mb": arguments.mb, "sftp_s": sides["sftp"], "ours_s": sides["ours"], "ours_staging_s": inside,
                "sftp_mb_per_s": arguments.mb / seconds["sftp"], "ours_mb_per_s": arguments.mb / seconds["ours"],
                "ours_of_sftp": seconds["sftp"] / seconds["ours"]}
    finally:
        client.close()


def wire(arguments, folder):
    from sshd import Client
    from staged import sent_once_and_resumed

    client = Client(folder / "wired")
    try:
        return sent_once_and_resumed(client, folder, arguments.mb * MB)
    finally:
        client.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mb", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--require", type=float, help="least bandwidth as a share of sftp's")
    arguments = bench_arguments.parse(parser)
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(arguments, pathlib.Path(folder))
        counted = wire(arguments, pathlib.Path(folder))
    figures["wire_bytes"] = counted
    print(f"{arguments.mb} MB  sftp {figures['sftp_mb_per_s']:.0f} MB/s  ours {figures['ours_mb_per_s']:.0f} MB/s  "
          f"ratio {figures['ours_of_sftp']:.2f}")
    print(f"on the wire: {counted['resumed'] / MB:.1f} MB after a cut at 50 %, {counted['unchanged'] / MB:.3f} MB where nothing has changed")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")
    if arguments.require and figures["ours_of_sftp"] < arguments.require:
        raise SystemExit(f"less than {arguments.require} of sftp")


if __name__ == "__main__":
    main()
