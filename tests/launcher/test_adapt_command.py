"""Tests that ringmaster adapt makes the fixes that a file needs, gives a reason for each, and changes nothing else."""

import json

from conftest import run

EXTRA = """# a comment of mine
tokens:
  - <a>
  # behind the first
  - <b>
weigth_decay: 0.1
seed: 7 # kept
"""
CUDA = ("--device", "cuda", "--device-memory", "80", "--ranks", "2")


def yaml_of(file, **keys):
    """Writes the configuration as lines of YAML, one per key."""
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in {**json.loads(file.read_text()), **keys}.items())


def broken(make_config, more):
    file = make_config()
    file.write_text(yaml_of(file) + more)
    return file


def test_only_the_lines_that_stop_the_run_change(make_config, tmp_path):
    file = broken(make_config, EXTRA)
    before = file.read_text()
    done = run("adapt", file, "--ranks", 2, "--device", "cpu", "--write", tmp_path / "new.yaml", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(done.stdout)
    assert said["ok"] and said["changed"] and said["written"] == str(tmp_path / "new.yaml")
    new = (tmp_path / "new.yaml").read_text()
    assert "weight_decay: 0.1\n" in new and "seed: 7 # kept\n" in new and "# a comment of mine\n" in new
    assert file.read_text() == before
    gone = [line for line in before.splitlines() if line not in new.splitlines()]
    assert set(gone) <= {"tokens:", "  - <a>", "  # behind the first", "  - <b>", "weigth_decay: 0.1"}
    assert json.loads(run("plan", tmp_path / "new.yaml", "--ranks", 2, "--device", "cpu", "--json").stdout)["ok"]


def test_each_step_says_why_and_what_it_does(make_config):
    said = json.loads(run("adapt", broken(make_config, "fp16: true\n"), *CUDA, "--json").stdout)
    lines = {line["change"] + line["text"] for step in said["steps"] for line in step["lines"]}
    assert lines == {"-fp16: true", "+bf16: true"}
    assert "adapter" in said["steps"][0]["finding"]["message"] and said["steps"][0]["fix"]["effect"]
    assert said["after"]["global_batch"] == 4


def test_what_stands_there_already_is_not_written_again(make_config):
    said = json.loads(run("adapt", broken(make_config, "bf16: auto # mine\nfp16: true\n"), *CUDA, "--json").stdout)
    assert [line["change"] + line["text"] for step in said["steps"] for line in step["lines"]] == ["-fp16: true"]


def test_a_missing_key_takes_the_value_that_stands_under_another_name(make_config):
    file = make_config(lr=0.0003)
    file.write_text("".join(line for line in yaml_of(file).splitlines(True) if not line.startswith("learning_rate:")))
    said = json.loads(run("adapt", file, "--ranks", 2, "--device", "cpu", "--json").stdout)
    assert [line["change"] + line["text"] for step in said["steps"] for line in step["lines"]] == ["-lr: 0.0003", "+learning_rate: 0.0003"]


def test_memory_that_will_not_do_is_mended(tmp_path):
    file = tmp_path / "long.yaml"
    file.write_text("base_model: NousResearch/Llama-3.2-1B\ndatasets: [{path: owner/rows, type: completion}]\nlearning_rate: 0.0001\n"
                    "sequence_len: 32768\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\noutput_dir: out\nbf16: auto\n")
    options = ("--ranks", "2", "--device", "cuda", "--device-memory", "40", "--json")
    assert json.loads(run("plan", file, *options).stdout)["verdict"] == "will_not_fit"
    said = json.loads(run("adapt", file, *options).stdout)
    assert said["ok"] and said["verdict"] in ("fits", "tight")
    assert said["before"]["memory_bytes"] > 40 << 30 > said["after"]["memory_bytes"]
    assert said["steps"][0]["finding"]["code"] == "MEM-FIT" and "same weights" in said["steps"][0]["fix"]["effect"]


def test_what_no_change_gives_is_said_in_a_sentence(make_config, tmp_path):
    done = run("adapt", broken(make_config, "kd_trainer: true\n"), *CUDA, "--write", tmp_path / "new.yaml")
    assert done.returncode == 1 and "missing kd_trainer" in done.stdout and "It does not run here yet." in done.stdout


def test_a_file_that_runs_is_left_alone(make_config):
    done = run("adapt", make_config(), "--ranks", 2, "--device", "cpu")
    assert done.returncode == 0 and done.stdout.endswith("It runs here as it is.\n")


def test_bytes_that_are_odd_stay(make_config, tmp_path):
    file = make_config()
    odd = ("\ufeff" + yaml_of(file).replace("\n", "\r\n") + "weigth_decay:   0.1\t# tab\r\n# ende\u0301").encode()
    file.write_bytes(odd)
    done = run("adapt", file, "--ranks", 2, "--device", "cpu", "--write", file)
    assert done.returncode == 0, done.stdout + done.stderr
    assert file.read_bytes() == odd.replace(b"weigth", b"weight")


def test_malformed_yaml_is_refused(tmp_path):
    file = tmp_path / "bad.yaml"
    file.write_text("a: [1\n")
    assert run("adapt", file).returncode == 2
    assert run("adapt", tmp_path / "none.yaml").returncode == 2
