"""Tests publishing a trained model: its card, the upload by the hub's own client to a stand-in for Hugging Face's hub, and the conversion
by a stand-in for llama.cpp's converter."""

import json
import pathlib
import re
import shutil
import xml.etree.ElementTree

import pytest
import yaml
from hub import TOKEN, running_hub

from ringmaster_runs import events_of, kept_model, launch, losses_of, make_config, make_rows, ringmaster

SECRET = "hf_abcdefghijklmnopqrstuvwxyz012345"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Returns a run of two ranks that trained an adapter and evaluated it, and its folder."""
    folder = tmp_path_factory.mktemp("publish")
    model = kept_model(folder / "model", "llama")
    make_rows(folder / "rows.jsonl", 40)
    config = make_config(folder, model, folder / "rows.jsonl", adapter="lora", lora_r=4, lora_alpha=8, lora_target_linear=True, val_set_size=4,
                         eval_steps=3, context_parallel_size=2, ring_attn_func="batch_zigzag", hub_token=SECRET)
    return launch(config, folder / "runs", "--ranks", 2, "--name", "fox"), folder


def test_a_card_says_what_was_trained_how_and_what_was_proved(trained, tmp_path):
    run, _ = trained
    ringmaster("card", run, "--to", tmp_path)
    text = (tmp_path / "README.md").read_text()
    head, _, body = text.removeprefix("---\n").partition("\n---\n")
    assert yaml.safe_load(head) == {"library_name": "peft", "pipeline_tag": "text-generation", "tags": ["ringmaster", "sft", "lora"]}
    assert "# fox\n" in body and "LoRA, rank 4, alpha 8" in body and "2 on 1 node, cpu" in body and "36 rows to train on, 4 to evaluate on" in body
    losses = losses_of(run)
    said = float(re.search(r"Loss of the last step \| (\d\.\d+)", body).group(1))
    assert said == pytest.approx(losses[-1], abs=1e-4) and f"Steps | {len(losses)} of {len(losses)}" in body
    proof = json.loads((run / "preflight.json").read_text())
    worst = max(gradient["relative_error"] for gradient in proof["gradients"])
    said = float(re.search(r"differed by at most ([\d.e-]+) of their norm", body).group(1))
    assert said == pytest.approx(worst, rel=0.06) and f"computed {proof['rows']} of its rows twice" in body
    assert SECRET not in text and "hub_token" in text and "lora_r" in text
    picture = xml.etree.ElementTree.parse(tmp_path / "training-loss.svg").getroot()
    kinds = [element.tag.rpartition("}")[2] for element in picture.iter()]
    assert kinds.count("circle") == len(events_of(run, kind="eval")) > 0
    refused = ringmaster("card", run, "--to", tmp_path, check=False)
    assert refused.returncode == 1 and "README.md" in refused.stderr
    assert ringmaster("card", run, "--to", tmp_path, "--overwrite").returncode == 0


def test_a_card_links_what_is_on_the_hub_and_no_folder_of_this_machine(trained, tmp_path):
    run, _ = trained
    copy = shutil.copytree(run, tmp_path / "runs/copy")
    plan = json.loads((copy / "plan.json").read_text())
    (tmp_path / "models/fox").mkdir(parents=True)
    heads = []
    for base in ("models/fox", "someone/fox"):
        plan["config"].update(base_model=base, base_dir=str(tmp_path), datasets=[{"path": "someone/rows", "type": "alpaca"}])
        (copy / "plan.json").write_text(json.dumps(plan))
        heads.append(yaml.safe_load(ringmaster("card", copy).stdout.removeprefix("---\n").partition("\n---\n")[0]))
    assert "base_model" not in heads[0] and heads[1]["base_model"] == "someone/fox" and heads[1]["datasets"] == ["someone/rows"]


def test_a_model_is_uploaded_with_its_card_by_the_persons_token(trained):
    run, folder = trained
    with running_hub() as hub:
        env = {"HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_XET": "1", "HF_HOME": str(folder / "hf"), "HF_HUB_OFFLINE": "0"}
        (folder / "out/checkpoint-3").mkdir()
        (folder / "out/checkpoint-3/optimizer.pt").write_text("left by another program")
        done = ringmaster("push", run, "--to", "me/fox-lora", "--private", "--json", env=env)
        assert json.loads(done.stdout)["url"] == f"{hub.url}/me/fox-lora"
        made = hub.repositories["me/fox-lora"]
        assert (made.get("private") or made.get("visibility") == "private") and len(hub.messages) == 1, made
        sent = {path for _, path in hub.files}
        assert sent == {"README.md", "training-loss.svg"} | {
            file.name for file in (folder / "out").iterdir() if file.is_file() and file.name != "ringmaster-run.json"}
        for path in sent:
            assert hub.files["me/fox-lora", path] == (folder / "out" / path).read_bytes(), path
        assert hub.files["me/fox-lora", "README.md"].decode().count("# fox-lora\n") == 1
        (folder / "out/README.md").write_text("my own words")
        ringmaster("push", run, "--to", "me/fox-lora", env=env)
        assert hub.files["me/fox-lora", "README.md"] == b"my own words", "a card that is there is the person's"


@pytest.mark.parametrize("what", ["token", "hub", "model", "run"])
def test_a_push_that_cannot_be_done_says_why(trained, tmp_path, what):
    run, folder = trained
    with running_hub() as hub:
        env = {"HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN, "HF_HUB_DISABLE_XET": "1", "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "0"}
        if what == "token":
            env["HF_TOKEN"] = "hf_another"
        if what == "hub":
            env["HF_ENDPOINT"] = "http://127.0.0.1:9"
        operand = {"model": tmp_path, "run": "no-such-run"}.get(what, folder / "out")
        done = ringmaster("push", operand, "--to", "me/fox", "--json", "--runs-dir", run.parent, env=env, check=False)
        error = json.loads(done.stdout)["diagnostics"][0]
        assert done.returncode == {"hub": 3, "token": 1}.get(what, 2), done
        assert error["code"] == ("HUB-PUSH" if what in ("token", "hub") else "RUN-MISSING"), error
        assert {"token": "hf auth login", "hub": "cannot be reached", "model": "run", "run": "run"}[what] in json.dumps(error)
        assert not hub.files


CONVERTER = """import json, pathlib, sys
folder, *options = sys.argv[1:]
if json.loads((pathlib.Path(folder) / "config.json").read_text())["model_type"] != "llama":
    sys.exit("ERROR: this model is not supported")
pathlib.Path(options[options.index("--outfile") + 1]).write_text(json.dumps(sys.argv[1:]))
"""


def test_a_model_goes_through_the_converter_that_is_named(trained, tmp_path):
    run, folder = trained
    (tmp_path / "convert_hf_to_gguf.py").write_text(CONVERTER)
    asked = ("--format", "gguf", "--to", tmp_path / "model.gguf", "--json")
    for name in ({"LLAMA_CPP": str(tmp_path)}, {}):
        (tmp_path / "model.gguf").unlink(missing_ok=True)
        ringmaster("export", folder / "model", *asked, *([] if name else ["--converter", tmp_path]), env=name)
        assert json.loads((tmp_path / "model.gguf").read_text()) == [str(folder / "model"), "--outfile", str(tmp_path / "model.gguf"),
                                                                     "--outtype", "auto"]
    other = kept_model(tmp_path / "other", "qwen2")
    failures = [(other, tmp_path, "this model is not supported"), (run, tmp_path, "ringmaster merge"),
                (folder / "model", tmp_path / "nowhere", "is not there")]
    for operand, converter, why in failures:
        done = ringmaster("export", operand, *asked, "--converter", converter, check=False)
        finding = json.loads(done.stdout)["diagnostics"][0]
        assert done.returncode != 0 and finding["code"] == "GGUF-CONVERTER" and why in json.dumps(finding), finding
