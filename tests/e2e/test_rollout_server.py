"""Trains on completions of a server that samples correctly with transformers, and of a server that sends wrong
answers, ends and restarts."""

import json
import math
import socket
import time

import pytest
from certificates import make_certificates
from completions_server import Server
from safetensors.numpy import load_file
from test_sampling import mean, spread, task, write_config  # noqa: F401  (a fixture)

from ringmaster_runs import events_of, launch, losses_of, ringmaster, state_of, wait_for

GROUP, PROMPTS = 4, 4  # completions of a prompt, and prompts of a step


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def reward_of(ids):
    """Returns a reward that differs between the completions of an untrained model, so that each
    step changes the weights."""
    return float(sum(ids) % 5)


def served(task, name, port, trl=None, **keys):
    (task[0] / "varied.py").write_text("def sums(completion_ids, **kwargs):\n    return [float(sum(ids) % 5) for ids in completion_ids]\n")
    return write_config(task, name, {"use_vllm": True, "vllm_mode": "server", "vllm_server_host": "127.0.0.1", "vllm_server_port": port,
                                     "vllm_server_timeout": 60, "reward_funcs": ["varied.sums"], **(trl or {})}, **keys)


def by_seed(server):
    """Returns the server's correct completions [(prompt, ids)], in the order of the run's steps."""
    found = {asked["seed"]: [(asked["prompt"], choice["token_ids"]) for choice in choices] for asked, choices in server.answers}
    return [pair for seed in sorted(found) for pair in found[seed]]


def rollouts_of(pairs):
    """Returns the pairs as rows of given rollouts, with their advantages."""
    rows = []
    for begin in range(0, len(pairs), GROUP):
        group = pairs[begin : begin + GROUP]
        rewards = [reward_of(ids) for _, ids in group]
        rows += [{"prompt_ids": prompt, "completion_ids": ids, "advantages": (reward - mean(rewards)) / (spread(rewards) + 1e-4)}
                 for (prompt, ids), reward in zip(group, rewards)]
    return rows


def warnings_of(run):
    return [event["message"] for event in events_of(run, kind="warning")]


def test_completions_of_a_server_train_as_the_same_rollouts_from_a_file(task):
    folder = task[0]
    with Server() as server:
        config = served(task, "served", server.port, {"vllm_importance_sampling_correction": False})
        run = launch(config, folder / "runs", "--ranks", 2, "--name", "served")
    pairs = by_seed(server)
    assert len(pairs) == 3 * GROUP * PROMPTS and len({tuple(ids) for _, ids in pairs}) > 20
    names = [path.rsplit("/", 1)[1] for path in server.loaded]
    assert names == ["weights-00000000", "weights-00000000", "weights-00000001", "weights-00000002"], "the preflight's, and one for each step"
    assert [path.name for path in (run / "rollouts").iterdir() if path.is_dir()] == names[-1:], "older weights are removed"
    (folder / "given.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rollouts_of(pairs)))
    plain = write_config(task, "given", datasets=[{"path": "./given.jsonl", "ds_type": "json", "type": ""}], curriculum_sampling=True)
    values = json.loads(plain.read_text())
    values["trl"] = {"max_completion_length": values["trl"]["max_completion_length"]}
    plain.write_text(json.dumps(values))
    given = launch(plain, folder / "runs", "--ranks", 2, "--name", "given")
    assert all(event["grad_norm"] > 0.1 for event in events_of(run))
    assert losses_of(run) == pytest.approx(losses_of(given), rel=1e-9, abs=1e-12)
    assert [event["grad_norm"] for event in events_of(run)] == pytest.approx([event["grad_norm"] for event in events_of(given)], rel=1e-9)
    ours, theirs = (load_file(folder / name / "model.safetensors") for name in ("served", "given"))
    assert all(abs(ours[name] - theirs[name]).max() < 1e-6 for name in theirs)
    assert "sampler_gap" not in events_of(run)[0]


@pytest.mark.parametrize("adapter", [False, True])
def test_the_server_holds_the_present_weights_in_each_step(task, adapter):
    keys = dict(adapter="lora", lora_r=4, lora_alpha=8, lora_target_modules=["q_proj", "down_proj"]) if adapter else {}
    with Server(dialect="vllm") as server:
        config = served(task, f"present-{adapter}", server.port, {"temperature": 0.7}, learning_rate=1e-2, **keys)
        run = launch(config, task[0] / "runs", "--ranks", 1)
    steps = events_of(run)
    assert all(event["grad_norm"] > 0.01 for event in steps), "the weights change"
    assert len(steps) == 3 and all(0 < event["sampler_gap"] < 1e-5 for event in steps), [event.get("sampler_gap") for event in steps]
    assert not warnings_of(run)


def test_the_servers_log_probabilities_correct_the_loss(task):
    """If the server's log-probabilities are 0.1 too low, each ratio is e^0.1. The run notices a server that has other
    weights."""
    def shifted(by):
        def lie(handler, path, answer):
            for choice in answer.get("choices", []):
                choice["logprobs"]["token_logprobs"] = [value - by for value in choice["logprobs"]["token_logprobs"]]
            return answer
        return lie

    found = {}
    for name, by in (("straight", 0), ("shifted", 0.1), ("far", 0.5)):
        with Server(lie=shifted(by)) as server:
            config = served(task, name, server.port, {"vllm_importance_sampling_mode": "token_truncate"}, max_steps=1)
            run = launch(config, task[0] / "runs", "--ranks", 2)
            found[name], said = events_of(run)[0], warnings_of(run)
    for figure in ("loss", "grad_norm"):
        assert found["shifted"][figure] == pytest.approx(math.exp(0.1) * found["straight"][figure], rel=1e-4)
    assert found["shifted"]["sampler_gap"] == pytest.approx(0.1, abs=1e-4)
    assert len(said) == 1 and "differ from the run's by 0.5" in said[0]


def test_a_server_that_lies_ends_the_run_with_the_reason(task):
    def lie(handler, path, answer):
        if path == "/v1/completions" and len(server.loaded) > 2:
            answer["choices"][0]["token_ids"] = [16]
        return answer

    with Server(lie=lie) as server:
        config = served(task, "lied", server.port, save_strategy="no")
        done = ringmaster("launch", config, "--runs-dir", task[0] / "runs", "--ranks", 2, "--name", "lied", "--json", check=False)
    assert done.returncode == 1
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["type"] == "error" and last["finding"]["code"] == "ROLLOUT-SERVER" and "16, which the model does not know" in last["finding"]["message"]
    run = task[0] / "runs/lied"
    assert [path.name for path in (run / "checkpoints").iterdir()] == ["step-00000001"], "the completed step is saved"
    assert sum("next attempt" in text for text in warnings_of(run)) == 2
    with Server() as honest:
        with Server() as straight:
            config = served(task, "believed", straight.port)
            whole = launch(config, task[0] / "runs", "--ranks", 2)
        ringmaster("resume", run, "--set", f"trl.vllm_server_port={honest.port}")
    assert losses_of(run) == losses_of(whole)
    assert (task[0] / "lied/model.safetensors").read_bytes() == (task[0] / "believed/model.safetensors").read_bytes()


KEY = "sk-local-0123456789abcdef"


def test_a_server_with_tls_and_an_api_key_trains_as_one_without_and_nothing_keeps_the_key(task, tmp_path):
    certificates = make_certificates(tmp_path)
    with Server() as plain:
        expected = launch(served(task, "open", plain.port), task[0] / "runs", "--ranks", 2, "--name", "open")
    with Server(certificate=certificates / "server.pem", key=KEY) as server:
        trl = {"vllm_server_base_url": f"https://127.0.0.1:{server.port}", "vllm_server_host": None, "vllm_server_port": None,
               "vllm_server_api_key_env": "SERVER_KEY", "vllm_server_ca_file": str(certificates / "ca.pem")}
        config = served(task, "secured", 0, trl)
        run = launch(config, task[0] / "runs", "--ranks", 2, "--name", "secured", env={"SERVER_KEY": KEY})
        assert losses_of(run) == losses_of(expected)
        kept = [file for folder in (run, task[0] / "secured") for file in folder.rglob("*") if file.is_file()]
        assert len(kept) > 10 and not [file for file in kept if KEY.encode() in file.read_bytes()]
        assert json.loads((run / "plan.json").read_text())["config"]["sampling"]["server"]["key_variable"] == "SERVER_KEY"
        for name, change, environment, words in (
                ("untrusted", {"vllm_server_ca_file": str(certificates / "stranger.pem")}, {"SERVER_KEY": KEY}, "certificate is not trusted"),
                ("unset", {}, {}, "is not set"), ("wrong", {}, {"SERVER_KEY": "another-key"}, "the API key is missing or wrong")):
            done = ringmaster("launch", served(task, name, 0, {**trl, **change}), "--runs-dir", task[0] / "runs", "--ranks", 2, "--json", check=False,
                              env=environment)
            last = json.loads(done.stdout.splitlines()[-1])
            assert done.returncode == 1 and last["finding"]["code"] == "ROLLOUT-SERVER" and words in json.dumps(last["finding"]), last
            assert KEY not in done.stdout + done.stderr and "another-key" not in done.stdout + done.stderr


def test_a_run_waits_for_a_server_that_died_and_can_be_stopped_meanwhile(task):
    port = free_port()
    server = Server(port=port, lie=lambda handler, path, answer: answer if len(server.loaded) < 4 else handler.connection.close())
    config = served(task, "waited", port, {"vllm_server_timeout": 600}, max_steps=6)
    run = launch(config, task[0] / "runs", "--ranks", 2, "--name", "waited", "--detach")
    wait_for(lambda: (run / "events/rank-00000.jsonl").exists() and any("next attempt" in text for text in warnings_of(run)), "a warning")
    server.__exit__()
    begun = time.monotonic()
    ringmaster("stop", run)
    wait_for(lambda: state_of(run)["state"] == "stopped", "the end", 30)
    assert time.monotonic() - begun < 30 and (run / "checkpoints/step-00000002").is_dir()
    with Server(port=port):
        ringmaster("resume", run)
    assert [event["step"] for event in events_of(run)] == list(range(1, 7)) and state_of(run)["state"] == "completed"
