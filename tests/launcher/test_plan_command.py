"""Tests `ringmaster plan`: its exit statuses, its JSON, and that its text fits the terminal's width."""

import json

import pytest

from conftest import run

VERDICTS = {"fits", "tight", "will_not_fit", "invalid", "unknown"}


def test_the_json_has_the_fields_of_the_contract(make_config):
    done = run("plan", make_config(context_parallel_size=2), "--ranks", 4, "--json")
    plan = json.loads(done.stdout)
    assert done.returncode == 0 and plan["ok"] is True and not done.stderr
    assert plan["verdict"] in VERDICTS and plan["ranks"] == 4 and plan["nodes"] == 1
    assert plan["mesh"] == {"dp_replicate": 1, "dp_shard": 2, "ring": 2, "ulysses": 1, "expert": 1}
    assert plan["context_parallel"]["valid_sizes"] == [2, 4]
    assert (plan["batch"]["global"], plan["batch"]["global_without_cp"]) == (4, 8)
    assert plan["sequence"]["per_rank"] == 32
    assert len(plan["memory"]["per_rank"]) == 4
    assert plan["time"]["basis"] in ("measured", "assumed")
    assert set(plan["keys"]) == {"used", "no_effect", "unsupported"}


def test_what_nccl_will_be_told_is_in_the_plan_of_gpus(make_config):
    config = make_config(context_parallel_size=2, bf16="auto")
    here = run("plan", config, "--ranks", 4, "--device", "cuda", "--device-memory", 80, "--json")
    told = {it["name"]: it for it in json.loads(here.stdout)["nccl"]}
    assert told["NCCL_SOCKET_IFNAME"]["value"] == "=lo" and told["NCCL_ALGO"]["value"] is None
    in_order = run("plan", config, "--ranks", 4, "--device", "cuda", "--device-memory", 80, "--json",
                   env={"RINGMASTER_CUDA_DETERMINISTIC": "1"})
    assert {it["name"]: it["value"] for it in json.loads(in_order.stdout)["nccl"]}["NCCL_ALGO"] == "^NVLS,NVLSTree"
    assert json.loads(in_order.stdout)["attention"] != json.loads(here.stdout)["attention"]
    apart = run("plan", config, "--ranks", 4, "--nodes", 2, "--device", "cuda", "--device-memory", 80)
    assert "NCCL_IB_DISABLE: 0 on a node with InfiniBand" in apart.stdout
    assert "NCCL_SOCKET_IFNAME: each node's interface that reaches the others" in apart.stdout
    assert json.loads(run("plan", config, "--ranks", 4, "--json").stdout)["nccl"] == []


def test_the_kernels_of_the_attention_are_named_with_the_reason(make_config):
    config = make_config(context_parallel_size=2, bf16="auto")
    gpus = ["plan", config, "--ranks", 4, "--device", "cuda", "--device-memory", 80]
    kernels = json.loads(run(*gpus, "--json").stdout)["attention"]
    assert kernels[0]["kernel"] == "cuDNN or FlashAttention-2, dense" and all(set(it) == {"kernel", "for", "why"} for it in kernels)
    text = " ".join(run(*gpus).stdout.split())
    for it in kernels:
        assert f"{it['kernel']}: {it['for']} ({it['why']})" in text
    [own] = json.loads(run("plan", config, "--ranks", 4, "--json").stdout)["attention"]
    assert own["kernel"] == "Ringmaster's block kernel"


def test_the_mesh_says_shard_only_if_states_are_sharded(make_config):
    whole = run("plan", make_config(context_parallel_size=2), "--ranks", 4).stdout
    assert "data parallel 2 × ring 2" in whole and "dp_shard" not in whole
    sharded = run("plan", make_config(context_parallel_size=2), "--ranks", 4, "--set", "fsdp_version=2",
                  "--set", "fsdp_config.reshard_after_forward=true").stdout
    assert "dp_shard 2 × ring 2, states sharded (ZeRO 3)" in sharded


def test_without_ranks_two_are_planned_on_the_cpu(make_config):
    assert json.loads(run("plan", make_config(), "--json").stdout)["ranks"] == 2


def test_an_error_is_exit_status_1_and_in_the_json(make_config):
    done = run("plan", make_config(context_parallel_size=3), "--ranks", 4, "--json")
    plan = json.loads(done.stdout)
    assert done.returncode == 1 and plan["ok"] is False and plan["verdict"] == "invalid"
    error = next(entry for entry in plan["diagnostics"] if entry["severity"] == "error")
    assert error["key"] == "context_parallel_size" and error["line"] > 0 and error["message"]
    text = run("plan", make_config(context_parallel_size=3), "--ranks", 4)
    assert text.returncode == 1 and error["code"] in text.stdout and f"line {error['line']}" in text.stdout


def test_a_missing_file_is_exit_status_2_with_json_all_the_same(tmp_path):
    done = run("plan", tmp_path / "nowhere.yaml", "--json")
    plan = json.loads(done.stdout)
    assert done.returncode == 2 and plan["ok"] is False
    assert any("nowhere.yaml" in entry["message"] for entry in plan["diagnostics"])
    text = run("plan", tmp_path / "nowhere.yaml")
    assert text.returncode == 2 and "nowhere.yaml" in text.stderr and not text.stdout


def test_malformed_yaml_is_exit_status_2_with_its_line(tmp_path):
    broken = tmp_path / "broken.yaml"
    broken.write_text("base_model: x\ndatasets: [\nsequence_len: 12\n")
    done = run("plan", broken, "--json")
    assert done.returncode == 2
    assert any(entry["line"] > 0 for entry in json.loads(done.stdout)["diagnostics"])


def test_settings_and_the_environment_override_the_file(make_config):
    plan = json.loads(run("plan", make_config(), "--ranks", 4, "--set", "context_parallel_size=4", "--set", "micro_batch_size=1", "--json").stdout)
    assert plan["mesh"]["ring"] == 4 and plan["batch"]["micro"] == 1
    plan = json.loads(run("plan", make_config(), "--ranks", 4, "--json", env={"PARALLELISM_CONFIG_CP_SIZE": "2"}).stdout)
    assert plan["context_parallel"]["size"] == 2


def test_device_memory_decides_what_fits(make_config):
    plan = json.loads(run("plan", make_config(), "--device-memory", "0.0001", "--json").stdout)
    assert plan["verdict"] == "will_not_fit" and plan["ok"] is True
    assert any(entry["code"] == "MEM-FIT" and entry["severity"] == "warning" for entry in plan["diagnostics"])
    assert plan["memory"]["device_bytes"] == round(0.0001 * 2**30)


def test_a_plan_without_nvme_needs_no_disk(make_config):
    plan = json.loads(run("plan", make_config(), "--disk-memory", "0.5", "--json").stdout)
    assert plan["ok"] is True and plan["memory"]["disk_bytes"] == 0


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("ranks", [2, 8])
def test_the_text_keeps_to_the_width_and_needs_no_colour(make_config, width, ranks):
    config = make_config(context_parallel_size=2, ring_attn_func="batch_zigzag", gradient_accumulation_steps=4, wandb_project="x", warmup_steps=2)
    done = run("plan", config, "--ranks", ranks, env={"COLUMNS": str(width)})
    assert done.returncode == 0
    assert "\033" not in done.stdout
    for line in done.stdout.splitlines():
        longest_word = max(map(len, line.split()), default=0)
        assert len(line) <= width or longest_word > width - 12, line
    words = " ".join(done.stdout.split())
    assert "FITS" in done.stdout.splitlines()[0]
    assert f"{2 * 4 * ranks} becomes {2 * 4 * ranks // 2} rows a step" in words
    assert "W weights" in words and "W" in done.stdout
    assert "assumed" in words


def test_one_rank_waits_for_offloaded_data_not_for_others(make_config):
    config = make_config(gradient_checkpointing="offload", bf16="auto")
    words = run("plan", config, "--ranks", 1, "--device", "cuda", "--device-memory", 80).stdout
    assert "waiting for offloaded data" in words and "communication" not in words.split("Time")[1], words


def test_who_holds_which_tokens_is_drawn(make_config):
    text = run("plan", make_config(context_parallel_size=2, ring_attn_func="batch_zigzag"), env={"COLUMNS": "80"}).stdout
    drawn = [line.split()[2] for line in text.splitlines() if line.strip().startswith("rank ")][:2]
    quarter = len(drawn[0]) // 4
    assert drawn[0] == "█" * quarter + "·" * (2 * quarter) + "█" * quarter
    assert drawn[1] == "·" * quarter + "█" * (2 * quarter) + "·" * quarter


@pytest.mark.parametrize("arguments, said", [
    (["--rank", "2"], "--ranks"),
    (["--ranks", "two"], "whole number"),
    (["--ranks", "0"], "whole number"),
    (["--ranks"], "needs a value"),
    (["--device", "tpu"], "cpu nor cuda"),
    (["--device-memory", "-1"], "above 0"),
    (["--disk-memory", "0"], "above 0"),
    (["--set", "novalue"], "key=value"),
    (["extra.yaml"], "unexpected argument"),
])
def test_unusable_arguments_are_exit_status_2(make_config, arguments, said):
    done = run("plan", make_config(), *arguments)
    assert done.returncode == 2 and said in done.stderr and not done.stdout
    done = run("plan", make_config(), *arguments, "--json")
    assert done.returncode == 2 and said in json.dumps(json.loads(done.stdout))
