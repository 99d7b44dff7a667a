"""Compares whole training steps that are run in several ways ("sides"), which take turns within one run.

    python tests/bench/whole_step.py --bin build/bin [--model dense] [--sides transformers zigzag] [--tokens 8192] [--dtype float32]
                                     [--ranks 2] [--rounds 2] [--steps 3] [--packed] [--require SIDE=RATIO …] [--json FILE]

Sides:
    transformers             one process, 2 threads, sdpa
    transformers_eager, transformers_grouped_mm
                             the same, with this implementation of experts in transformers (its `batched_mm` copies an expert's
                             matrices for each token, here 25 GB a layer)
    one                      one rank of ours, 2 threads
    checkpointing, selective, tiled
                             `one` with a memory option: checkpointing, attention's output kept, tiled MLPs
    untiled                  `one` with checkpointing, without tiles and chunks; `auto`, `chunks` and `streamed` are compared with it
    auto                     as many tiles and chunks as the planner chooses
    chunks                   8 chunks and tiled MLPs
    streamed                 weights, gradients and optimizer in host memory
    zigzag, balanced, varlen_llama3
                             --ranks ranks of ours with that layout, one thread each, on this machine
    zero3                    `zigzag` with sharded states
    linked                   `zigzag` with each rank in its own network namespace, joined by a virtual link; needs root
    gigabit                  `linked` with the link limited to 1 Gbit/s both ways by tc's token bucket

All sides train the same shape on one row with AdamW: hidden 512, 8 heads, 4 key/value heads. --model dense has 6 layers, intermediate
1408 and vocabulary 8192; --model experts is Qwen3-MoE with 4 layers, 16 experts of 768, 4 of them active per token, and vocabulary
2048. All activations are kept unless the side says otherwise. With --packed, half of the row is documents of 512 tokens and the rest
one document. The first step of a turn is a warm-up, and the fastest of the others counts. --require sets a side's lowest speed relative
to the first side's, or to the fastest of transformers' sides.
Prints seconds per step, peak resident memory per process, the machine's load, and the ratios that the README quotes.
"""

import argparse
import contextlib
import itertools
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

SHAPE = dict(hidden_size=512, num_attention_heads=8, num_key_value_heads=4, max_position_embeddings=65536, tie_word_embeddings=False,
             rms_norm_eps=1e-6, hidden_act="silu")
MODELS = {
    "dense": dict(SHAPE, model_type="llama", architectures=["LlamaForCausalLM"], vocab_size=8192, intermediate_size=1408, num_hidden_layers=6),
    "experts": dict(SHAPE, model_type="qwen3_moe", architectures=["Qwen3MoeForCausalLM"], vocab_size=2048, intermediate_size=2304,
                    num_hidden_layers=4, head_dim=64, num_experts=16, num_experts_per_tok=4, moe_intermediate_size=768, norm_topk_prob=True),
}
UNTILED = {"gradient_checkpointing": True, "tiled_mlp": False}
ZIGZAG = {"ring_attn_func": "batch_zigzag"}
SPLIT = {  # splits over --ranks ranks
    "zigzag": ZIGZAG, "linked": ZIGZAG, "gigabit": ZIGZAG, "balanced": {"ring_attn_func": "balanced"},
    "varlen_llama3": {"ring_attn_func": "varlen_llama3"},
    "zero3": {**ZIGZAG, "fsdp_version": 2, "fsdp_config": {"reshard_after_forward": True}},
}
WHOLE = {
    "one": {}, "checkpointing": {"gradient_checkpointing": True}, "tiled": {"tiled_mlp": True},
    "selective": {"gradient_checkpointing": True, "selective_checkpointing": True},
    "untiled": UNTILED, "auto": {"gradient_checkpointing": True, "tiled_mlp": "auto", "sequence_chunks": "auto"},
    "chunks": {"gradient_checkpointing": True, "tiled_mlp": True, "sequence_chunks": 8},
    "streamed": {**UNTILED, "deepspeed": {"zero_optimization": {
        "stage": 3, "offload_param": {"device": "cpu"}, "offload_optimizer": {"device": "cpu"}}}},
}
EXPERTS = {"transformers_eager": "eager", "transformers_grouped_mm": "grouped_mm"}
REFERENCES = ["transformers", *EXPERTS]
SIDES = [*REFERENCES, *WHOLE, *SPLIT]
SHORT = 512  # tokens of a short document


def ids_of(shape, tokens):
    return [(i * 31) % shape["vocab_size"] for i in range(tokens)]


def reference_process(arguments):
    """Runs the loop in transformers, in a separate process; prints JSON."""
    import resource

    import torch
    import transformers

    torch.set_num_threads(2)
    torch.manual_seed(0)
    shape = MODELS[arguments.model]
    config = transformers.AutoConfig.for_model(**shape)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="sdpa")
    if arguments.reference in EXPERTS:
        model.set_experts_implementation(EXPERTS[arguments.reference])
    model.to(getattr(torch, arguments.dtype)).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    ids = torch.tensor([ids_of(shape, arguments.tokens)])
    seconds = []
    for _ in range(arguments.steps + 1):
        start = time.perf_counter()
        model(input_ids=ids, labels=ids).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds[1:], "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))


def run_reference(arguments, side):
    done = subprocess.run([sys.executable, __file__, "--reference", side, "--model", arguments.model, "--tokens", str(arguments.tokens),
                           "--steps", str(arguments.steps), "--dtype", arguments.dtype], capture_output=True, text=True, check=True,
                          env={**os.environ, "OMP_NUM_THREADS": "2"})
    return json.loads(done.stdout.splitlines()[-1])


def peak_kib(pid):
    with contextlib.suppress(OSError):
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1])
    return 0


def write_rows(arguments, file):
    tokens = [arguments.tokens]
    if arguments.packed:
        tokens = [SHORT] * (arguments.tokens // 2 // SHORT) + [arguments.tokens // 2]
    rows = [ids_of(MODELS[arguments.model], count) for count in tokens]
    file.write_text("".join(json.dumps({"input_ids": ids, "labels": ids}) + "\n" for ids in rows))


def write_config(arguments, folder, ranks, side, name):
    model = folder / "model"
    model.mkdir(exist_ok=True)
    (model / "config.json").write_text(json.dumps({**MODELS[arguments.model], "rope_theta": 10000.0}))
    write_rows(arguments, folder / "rows.jsonl")
    config = {
        "base_model": str(model), "reinit_weights": True, "sequence_len": arguments.tokens, "flash_attention": True,
        "datasets": [{"path": str(folder / "rows.jsonl"), "ds_type": "json", "type": ""}], "curriculum_sampling": True,
        "micro_batch_size": 1, "gradient_accumulation_steps": 1, "max_steps": arguments.steps + 1, "learning_rate": 1e-4,
        "optimizer": "adamw_torch", "lr_scheduler": "constant", "save_strategy": "no", "output_dir": str(folder / f"out-{name}"),
        **({"bfloat16": True} if arguments.dtype == "bfloat16" else {}),
        **({"sample_packing": True} if arguments.packed else {}),
        **WHOLE.get(side, {}), **({"context_parallel_size": ranks, **SPLIT[side]} if side in SPLIT else {}),
    }
    (folder / "config.yaml").write_text(json.dumps(config))
    return folder / "config.yaml"


def figures_of(run, peaks):
    events = [json.loads(line) for line in (run / "events/rank-00000.jsonl").read_text().splitlines()]
    steps = [event for event in events if event["type"] == "step"]
    return {"seconds": [event["step_s"] for event in steps[1:]], "peak_kib": max(peaks),
            "exposed": statistics.median(event["exposed_comm_s"] / event["step_s"] for event in steps[1:])}


def end(process):
    """Interrupts a launch twice, which ends its ranks at once."""
    for _ in range(2):
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()


def wait_and_measure(processes, pids):
    """Waits for the processes; returns the peak resident memory of each of pids() while they ran."""
    peaks = {}
    try:
        while any(process.poll() is None for process in processes):
            time.sleep(0.2)
            for pid in pids():
                peaks[pid] = max(peaks.get(pid, 0), peak_kib(pid))
    finally:
        for process in processes:
            end(process)
    for process in processes:
        if process.returncode != 0:
            raise SystemExit(process.stderr.read())
    return list(peaks.values())


def run_launched(arguments, folder, ranks, side, name):
    config = write_config(arguments, folder, ranks, side, name)
    run = folder / "runs" / name
    launched = subprocess.Popen([arguments.bin / "ringmaster", "launch", config, "--ranks", str(ranks), "--device", "cpu", "--runs-dir",
                                 folder / "runs", "--name", name, "--no-preflight", "--json"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def pids():
        with contextlib.suppress(OSError, ValueError, KeyError, IndexError):
            return [rank["pid"] for rank in json.loads((run / "run.json").read_text())["nodes"][0]["ranks"]]
        return []

    return figures_of(run, wait_and_measure([launched], pids))


def ip(*words):
    subprocess.run(["ip", *map(str, words)], check=True, capture_output=True)


@contextlib.contextmanager
def namespaces(ranks, gigabit):
    """Creates one network namespace per rank on one bridge; yields the namespaces' names and the address of the first."""
    name, net = f"rmb{os.getpid() % 100000}", f"10.{177 + os.getpid() % 50}.{os.getpid() // 50 % 250}"
    spaces = [f"{name}n{rank}" for rank in range(ranks)]
    try:
        ip("link", "add", f"{name}br", "type", "bridge")
        ip("link", "set", f"{name}br", "up")
        for rank, space in enumerate(spaces):
            ip("netns", "add", space)
            ip("link", "add", f"{name}v{rank}", "type", "veth", "peer", "name", "eth0", "netns", space)
            ip("link", "set", f"{name}v{rank}", "master", f"{name}br", "up")
            for words in (["addr", "add", f"{net}.{11 + rank}/24", "dev", "eth0"], ["link", "set", "eth0", "up"], ["link", "set", "lo", "up"]):
                ip("netns", "exec", space, "ip", *words)
            if gigabit:
                ip("netns", "exec", space, "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "1gbit", "burst", "256kb",
                   "latency", "50ms")
        yield spaces, f"{net}.11"
    finally:
        for rank, space in enumerate(spaces):
            subprocess.run(["ip", "link", "del", f"{name}v{rank}"], capture_output=True, check=False)
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)
        subprocess.run(["ip", "link", "del", f"{name}br"], capture_output=True, check=False)


def run_linked(arguments, folder, ranks, side, name):
    config = write_config(arguments, folder, ranks, side, name)
    prepared = subprocess.run([arguments.bin / "ringmaster", "prepare", config, "--ranks", str(ranks), "--device", "cpu", "--runs-dir",
                               folder / "runs", "--name", name], check=True, capture_output=True, text=True)
    run = pathlib.Path(prepared.stdout.splitlines()[-1])
    with namespaces(ranks, side == "gigabit") as (spaces, address):
        processes = []
        for rank, space in enumerate(spaces):
            place = {"RANK": rank, "WORLD_SIZE": ranks, "LOCAL_RANK": 0, "LOCAL_WORLD_SIZE": 1, "MASTER_ADDR": address, "MASTER_PORT": 29400,
                     "OMP_NUM_THREADS": 1}
            processes.append(subprocess.Popen(["ip", "netns", "exec", space, arguments.bin / "ringmaster-engine", "--run", run],
                                              env={**os.environ, **{key: str(value) for key, value in place.items()}},
                                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
        return figures_of(run, wait_and_measure(processes, lambda: [process.pid for process in processes]))


def run_side(side, arguments, folder, turn):
    name = f"{side}-{turn}"
    if side in REFERENCES:
        return run_reference(arguments, side)
    if side in ("linked", "gigabit"):
        return run_linked(arguments, folder, arguments.ranks, side, name)
    return run_launched(arguments, folder, 1 if side in WHOLE else arguments.ranks, side, name)


def report_of(arguments, sides):
    best = {side: min(second for turn in turns for second in turn["seconds"]) for side, turns in sides.items()}
    memory = {side: max(turn["peak_kib"] for turn in turns) for side, turns in sides.items()}
    return {"tokens": arguments.tokens, "dtype": arguments.dtype, "ranks": arguments.ranks, "seconds": best,
            "tokens_per_s": {side: arguments.tokens / seconds for side, seconds in best.items()}, "peak_kib": memory,
            "speed_ratio": {f"{side}/{other}": best[other] / best[side] for other, side in itertools.combinations(arguments.sides, 2)},
            "memory_ratio": {f"{side}/{other}": memory[side] / memory[other] for other, side in itertools.combinations(arguments.sides, 2)},
            "exposed_comm": {side: turns[-1]["exposed"] for side, turns in sides.items() if side not in REFERENCES}}


def slow_sides(arguments, seconds):
    """Prints the sides that are slower than required, and returns them."""
    required = {side: float(ratio) for side, ratio in (words.split("=") for words in arguments.require)}
    compared = [side for side in arguments.sides if side in REFERENCES] or arguments.sides[:1]
    fastest = min(compared, key=seconds.get)
    slow = [side for side, ratio in required.items() if seconds[fastest] / seconds[side] < ratio]
    for side in slow:
        print(f"{side} is slower than {required[side]} of {fastest}")
    return slow


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path)
    parser.add_argument("--model", choices=sorted(MODELS), default="dense")
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=["transformers", "zigzag"])
    parser.add_argument("--tokens", type=int, default=8192)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--packed", action="store_true")
    parser.add_argument("--require", nargs="+", default=[], metavar="SIDE=RATIO")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--reference", choices=REFERENCES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.reference:
        return reference_process(arguments)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the `finally` blocks clean up
    arguments.bin = arguments.bin.resolve()
    sides = {side: [] for side in arguments.sides}
    with tempfile.TemporaryDirectory() as temporary:
        for turn in range(arguments.rounds):
            for side, turns in sides.items():
                turns.append(run_side(side, arguments, pathlib.Path(temporary), turn))
                print(f"round {turn + 1}  {side:<23} {min(turns[-1]['seconds']):7.2f} s a step  "
                      f"{turns[-1]['peak_kib'] / 1024:6.0f} MiB  load {os.getloadavg()[0]:.1f}", flush=True)
    report = report_of(arguments, sides)
    for side in arguments.sides:
        print(f"{side:<23} {report['tokens_per_s'][side]:7.0f} tokens/s, {report['peak_kib'][side] / 1024:.0f} MiB a process"
              + (f", exposed communication {report['exposed_comm'][side]:.1%}" if side in report["exposed_comm"] else ""))
    for pair, ratio in report["speed_ratio"].items():
        print(f"{pair:<22} {ratio:.3f}x as fast with {report['memory_ratio'][pair]:.3f}x the memory a process")
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    return 1 if slow_sides(arguments, report["seconds"]) else 0


if __name__ == "__main__":
    sys.exit(main())
