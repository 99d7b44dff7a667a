"""Tests that sharded states (ZeRO 1, 2, 3) change no loss on any mesh, take a share of the memory, and leave
checkpoints that any mesh and stage resumes."""

import json
import os
import signal

import pytest

from ringmaster_runs import events_of, kept_model, launch, losses_of, make_config, make_rows, ringmaster, state_of
from test_resume import steps_done, wait_for

STAGES = {
    0: {},
    1: dict(deepspeed={"zero_optimization": {"stage": 1}}),
    2: dict(fsdp_version=2, fsdp_config={"reshard_after_forward": False}),
    3: dict(fsdp_version=2, fsdp_config={"reshard_after_forward": True}),
}
# A step has 8 rows; with 45 rows, an epoch's sixth step has 5. On meshes with several data-parallel groups some groups
# then have one micro-batch less. These groups still take part in the last round, so that the other groups get their
# shards of weights and gradients.
MESHES = {
    "cp 2": (2, dict(context_parallel_size=2, ring_attn_func="batch_zigzag", micro_batch_size=2, gradient_accumulation_steps=4)),
    "cp 4": (4, dict(context_parallel_size=4, ulysses_size=2, ring_attn_func="batch_zigzag", micro_batch_size=4,
                     gradient_accumulation_steps=2)),
    "dp_shard 2 x cp 2": (4, dict(context_parallel_size=2, dp_shard_size=2, micro_batch_size=2, gradient_accumulation_steps=2)),
    "dp_replicate 2 x dp_shard 2": (4, dict(dp_replicate_size=2, dp_shard_size=2, micro_batch_size=1, gradient_accumulation_steps=2)),
    "dp_replicate 2 x cp 2": (4, dict(dp_replicate_size=2, context_parallel_size=2, micro_batch_size=1, gradient_accumulation_steps=4)),
}
STEPS = 8


@pytest.fixture(scope="module")
def uneven_rows(tmp_path_factory):
    file = tmp_path_factory.mktemp("uneven") / "rows.jsonl"
    make_rows(file, 45)
    return file


def train(tmp_path, model, rows, mesh, stage, name, *arguments, **keys):
    ranks, sizes = MESHES[mesh]
    folder = tmp_path / name
    folder.mkdir()
    config = make_config(folder, model, rows, **{"max_steps": STEPS, "max_grad_norm": 0.5, **sizes, **STAGES[stage], **keys})
    return launch(config, tmp_path / "runs", "--ranks", ranks, "--name", name, *arguments)


def assert_alike(run, expected, rel=1e-6):
    steps, others = events_of(run), events_of(expected)
    assert [event["step"] for event in steps] == [event["step"] for event in others]
    for event, other in zip(steps, others):
        assert event["loss"] == pytest.approx(other["loss"], rel=rel), event["step"]
        assert event["grad_norm"] == pytest.approx(other["grad_norm"], rel=10 * rel), event["step"]


@pytest.mark.parametrize("mesh", MESHES)
def test_no_stage_changes_a_loss(mesh, llama, uneven_rows, tmp_path):
    whole = train(tmp_path, llama, uneven_rows, mesh, 0, "whole", "--no-preflight")
    for stage in (1, 2, 3):
        run = train(tmp_path, llama, uneven_rows, mesh, stage, f"stage-{stage}")
        assert json.loads((run / "plan.json").read_text())["zero_stage"] == stage
        assert json.loads((run / "preflight.json").read_text())["ok"]
        assert_alike(run, whole)
        for rank in range(1, MESHES[mesh][0]):
            assert losses_of(run, rank) == losses_of(run)


@pytest.mark.parametrize("keys", [dict(gradient_checkpointing=True), dict(bf16=True), dict(bfloat16=True),
                                  dict(val_set_size=7, eval_steps=3)], ids=str)
def test_stages_go_with_every_precision_recomputing_and_evaluation(keys, rows_file, tmp_path):
    model = kept_model(tmp_path / "model", "qwen2", tie_word_embeddings=True)
    mesh = "dp_shard 2 x cp 2"
    whole = train(tmp_path, model, rows_file, mesh, 0, "whole", "--no-preflight", **keys)
    rel = 3e-3 if "bfloat16" in keys else 1e-4 if "bf16" in keys else 1e-6
    for stage in (1, 2, 3):
        run = train(tmp_path, model, rows_file, mesh, stage, f"stage-{stage}", **keys)
        assert_alike(run, whole, rel)
        evaluated = [event["loss"] for event in events_of(run, kind="eval")]
        assert evaluated == pytest.approx([event["loss"] for event in events_of(whole, kind="eval")], rel=rel)
        assert len(evaluated) == (2 if "eval_steps" in keys else 0)


@pytest.fixture(scope="module")
def larger(tmp_path_factory):
    return kept_model(tmp_path_factory.mktemp("larger") / "model", "llama", vocab_size=2048, hidden_size=256,
                      intermediate_size=704, num_hidden_layers=4)


def test_each_stage_divides_its_states_by_the_ranks(larger, rows_file, tmp_path):
    # Shares are counted in units of 4 bytes per parameter: weights, gradients and two moments.
    shares = {0: 4, 1: 2 + 2 / 4, 2: 1 + 3 / 4, 3: 4 / 4}
    counted = {}
    for stage in STAGES:
        run = train(tmp_path, larger, rows_file, "cp 4", stage, f"stage-{stage}", "--no-preflight", max_steps=2)
        counted[stage] = [events_of(run, rank)[-1]["memory_bytes"] for rank in range(4)]
    for stage, of_ranks in counted.items():
        for rank, held in enumerate(of_ranks):
            assert held / counted[0][rank] == pytest.approx(shares[stage] / 4, rel=0.03), stage


# Lists ((mesh, ZeRO stage) of the save, (mesh, ZeRO stage) of the resume).
MOVES = [
    (("dp_shard 2 x cp 2", 3), ("cp 2", 0)),
    (("cp 2", 0), ("dp_shard 2 x cp 2", 3)),
    (("cp 2", 2), ("dp_replicate 2 x dp_shard 2", 1)),
    (("dp_replicate 2 x cp 2", 1), ("cp 4", 3)),
    (("cp 4", 3), ("cp 4", 2)),
]


@pytest.mark.parametrize("before, after", MOVES, ids=str)
def test_a_checkpoint_resumes_at_another_mesh_and_stage(before, after, llama, rows_file, tmp_path):
    keys = dict(save_strategy=None, save_steps=3, lr_scheduler="linear")
    straight = train(tmp_path, llama, rows_file, before[0], before[1], "straight", "--no-preflight", **keys)
    run = train(tmp_path, llama, rows_file, before[0], before[1], "moved", "--no-preflight", **keys)
    ranks, sizes = MESHES[after[0]]
    file = run / "config.yaml"
    config = json.loads(file.read_text())
    for keys_of in (*STAGES.values(), *(sizes for _, sizes in MESHES.values())):
        for key in keys_of:
            config.pop(key, None)
    settings = {**sizes, **STAGES[after[1]]}
    config.update(settings)
    file.write_text(json.dumps(config, indent=1))
    ringmaster("resume", run, "--checkpoint", 3, "--ranks", ranks)
    assert state_of(run)["state"] == "completed"
    plan = json.loads((run / "plan.json").read_text())
    assert (plan["zero_stage"], plan["ranks"]) == (after[1], ranks)
    assert events_of(run, kind="hello")[-1]["start_step"] == 3
    assert_alike(run, straight)


@pytest.mark.parametrize("stage", [1, 2, 3])
def test_killed_and_resumed_gives_the_same_losses_and_weights(stage, llama, rows_file, tmp_path):
    keys = dict(max_steps=40, save_steps=7, save_strategy=None)
    whole = train(tmp_path, llama, rows_file, "cp 2", stage, "straight", "--no-preflight", **keys)
    run = train(tmp_path, llama, rows_file, "cp 2", stage, "broken", "--no-preflight", "--detach", **keys)
    wait_for(lambda: steps_done(run) >= 10, "step 10")
    os.kill(state_of(run)["nodes"][0]["ranks"][1]["pid"], signal.SIGKILL)
    wait_for(lambda: state_of(run)["state"] == "failed", "the end of the run")
    assert steps_done(run) < 40
    ringmaster("resume", run)
    assert state_of(run)["state"] == "completed"
    for rank in range(2):
        assert losses_of(run, rank) == losses_of(whole, rank)
    files = [tmp_path / name / "out/model.safetensors" for name in ("broken", "straight")]
    assert files[0].read_bytes() == files[1].read_bytes()


OPTIMIZERS = {
    "sgd": dict(optim_args={"momentum": 0.9, "nesterov": True}), "rmsprop": {}, "lion_32bit": {}, "lion_8bit": {}, "ademamix": {}, "ademamix_8bit": {},
    "schedule_free_adamw": dict(val_set_size=5, eval_steps=3), "adafactor": {}, "came_pytorch": {}, "muon": {},
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_is_the_same_on_every_mesh_and_after_a_resume(optimizer, llama, uneven_rows, tmp_path):
    """Losses differ only because sums are taken in another order; Muon rounds a rank's matrix products to
    bfloat16, and 8-bit codes are discrete, which makes the differences larger."""
    keys = dict(optimizer=optimizer, learning_rate=1e-4, save_steps=3, save_strategy="steps", **OPTIMIZERS[optimizer])
    whole = train(tmp_path, llama, uneven_rows, "cp 2", 0, "whole", **keys)
    for mesh, stage in (("cp 2", 1), ("dp_shard 2 x cp 2", 3), ("dp_replicate 2 x dp_shard 2", 2)):
        run = train(tmp_path, llama, uneven_rows, mesh, stage, f"stage-{stage}", **keys)
        assert_alike(run, whole, 1e-4 if "8bit" in optimizer or optimizer == "muon" else 1e-6)
    weights = tmp_path / f"stage-{stage}" / "out/model.safetensors"
    before = losses_of(run), weights.read_bytes()
    ringmaster("resume", run, "--checkpoint", 3)
    assert (losses_of(run), weights.read_bytes()) == before
