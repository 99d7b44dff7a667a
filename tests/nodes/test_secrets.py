"""Tests that a configuration's secrets stay on this machine: no node gets a secret, and copies of the configuration
are as private as the original."""

import json
import pathlib
import stat

from ringmaster_runs import kept_model, make_config, make_rows
from test_remote_runs import run

SECRETS = {"hub_model_id": "https://ann:hunter2-of-the-hub@example.org/model", "swanlab_api_key": "k9" * 20, "swanlab_lark_secret": "open sesame of lark",
           "mlflow_tracking_uri": "https://example.org/?token=hunter2-of-mlflow", "dataset_prepared_path": "/tmp/hf_abcdefghijklmnop0123"}
WORDS = [b"hunter2", b"k9k9k9", b"open sesame", b"hf_abcdefghijklmnop0123"]


def files_below(folder):
    return [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]


def test_no_secret_of_a_private_configuration_is_sent_or_becomes_readable(client, tmp_path):
    server = client.serve("a")
    client.host("a", server)
    make_rows(tmp_path / "rows.jsonl", 44)
    config = make_config(tmp_path, kept_model(tmp_path / "model", "llama"), tmp_path / "rows.jsonl", max_steps=1, **SECRETS)
    config.chmod(0o600)
    done = run(client, "launch", config, "--runs-dir", tmp_path / "runs", "--node", "a", "--ranks", 1, "--no-preflight", "--json")
    run_dir = pathlib.Path(json.loads(done.stdout.splitlines()[0])["dir"])
    assert all(word in (run_dir / "config.yaml").read_bytes() for word in WORDS), "here it is the file as it was opened"
    assert stat.S_IMODE((run_dir / "config.yaml").stat().st_mode) == 0o600
    assert stat.S_IMODE(run_dir.stat().st_mode) == 0o700
    there = files_below(server.home)
    assert [path for path in there if path.name == "config.yaml"] and [path for path in there if path.name == "plan.json"]
    assert not [path for path in there for word in WORDS if word in path.read_bytes()]
