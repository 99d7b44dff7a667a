"""Tests malicious names, paths and configurations: nothing in them is run, nothing is written outside the run's
folders, and each either fails with a clear message or is used as a plain name. (test_nodes_command.py tests the names
of nodes.)"""

import json
import os
import pathlib
import pickle
import shutil
import subprocess

import pytest

from ringmaster_runs import BIN, make_config
from tiny import llama, rows_file  # noqa: F401  (fixtures)

CANARY = "r-canary"  # name of a file that a shell creates if it runs one of the tricks
TRICKS = [f"$(touch {CANARY})", f"`touch {CANARY}`", f"a;touch {CANARY}", f"a&touch {CANARY}", f"a|touch {CANARY}", f"a>{CANARY}", f"a'; touch {CANARY}; '",
          f'a"; touch {CANARY}; "', f"a\\'; touch {CANARY}", "-rf", "--overwrite", "*", "~", "a b ", "%s%n", "{a,b}", "é漢\u202e", "!!", "#x"]


@pytest.fixture
def place(tmp_path):
    """Provides the working folder and the home in which commands run. Fails if a command created a canary file."""
    for name in ("home", "cwd"):
        (tmp_path / name).mkdir()
    yield tmp_path
    assert not list(tmp_path.rglob(CANARY)) and not list(tmp_path.rglob("canary"))
    for folder in (pathlib.Path.home(), pathlib.Path.cwd(), pathlib.Path("/"), pathlib.Path("/tmp")):
        assert not (folder / CANARY).exists(), folder


@pytest.fixture(scope="session")
def shapes(tmp_path_factory):
    """Returns a model's folder that has only a config.json, which is enough for a plan."""
    folder = tmp_path_factory.mktemp("shapes")
    (folder / "config.json").write_text(json.dumps({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 256, "hidden_size": 64, "intermediate_size": 112,
        "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 512, "rms_norm_eps": 1e-6,
        "tie_word_embeddings": False}))
    return folder


def config_of(place, model, rows, **keys):
    return make_config(place, model, rows, **{"reinit_weights": True, **keys})


def command(place, *arguments, env=None, timeout=300):
    environment = {**os.environ, "HOME": str(place / "home"), "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "XDG_DATA_HOME": str(place / "data"),
                   "XDG_CACHE_HOME": str(place / "cache"), **(env or {})}
    done = subprocess.run([str(BIN / "ringmaster"), *map(str, arguments)], capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL,
                          cwd=place / "cwd", env=environment, start_new_session=True)
    said = done.stdout + done.stderr
    assert done.returncode in (0, 1, 2, 3), said
    assert b"\x1b" not in said and b"Traceback" not in said and b"terminate called" not in said, said
    assert done.returncode == 0 or done.stderr or done.stdout, "it fails, and says why"
    return done


# Lists malicious entries of a ~/.ssh/config; {canary} is the path of a file that must not appear.
DIRECTIVES = ["HostName $(touch${{IFS}}{canary})", "HostName `touch${{IFS}}{canary}`", "HostName -oProxyCommand=touch${{IFS}}{canary}",
              "HostName a;touch${{IFS}}{canary}", "User $(touch${{IFS}}{canary})", "User -l", "User a;touch${{IFS}}{canary}",
              "ProxyJump $(touch${{IFS}}{canary})", "ProxyJump -oProxyCommand=touch${{IFS}}{canary}", "ProxyJump a,b;touch${{IFS}}{canary}",
              'IdentityFile "$(touch {canary})"', 'IdentityAgent "$(touch {canary})"', 'CertificateFile "`touch {canary}`"',
              "PermitLocalCommand yes\n  LocalCommand touch {canary}", "RemoteCommand touch {canary}", "KnownHostsCommand /usr/bin/touch {canary}",
              "SetEnv A=$(touch${{IFS}}{canary})", "ControlMaster auto\n  ControlPath {canary}", "HostKeyAlias $(touch${{IFS}}{canary})",
              "PKCS11Provider {canary}", "XAuthLocation /usr/bin/touch", 'Include "$(touch {canary})"', "NoSuchDirective $(touch {canary})"]


@pytest.mark.parametrize("lines", DIRECTIVES)
def test_a_directive_of_the_ssh_configuration_runs_nothing(lines, client, place):
    server = client.serve("gpu1")
    client.set_config("Host gpu1\n  " + lines.format(canary=place / "canary") + f"\n  HostName {server.address}\n  Port {server.port}\n")
    done = command(place, "nodes", "--node", "gpu1", "--json", env=client.env())
    if done.returncode == 0:
        (report,) = json.loads(done.stdout)
        assert report["state"] == "ready"
    assert not list(server.home.rglob("*"))


@pytest.mark.parametrize("name", [*TRICKS, "../x", "/x", ".", "..", "a/b", "", "a\nb", "a\x1b[2J", "x" * 300])
def test_a_name_of_a_run_is_a_name(name, place, shapes, rows_file):
    config = config_of(place, shapes, rows_file)
    done = command(place, "launch", config, f"--name={name}", "--dry-run", "--json", "--ranks", 1)
    assert done.returncode in (0, 2), done.stderr
    if done.returncode == 0:
        assert f"/runs/{name}" in json.loads(done.stdout)["nodes"][0]["agent"]["argv"][2]
    assert not (place / "data").exists() and not (place / "out").exists() and not list((place / "cwd").iterdir())


VALUES = [{"base_model": f"$(touch {CANARY})"}, {"base_model": "../../../../etc/passwd"}, {"base_model": "/dev/zero"}, {"base_model": "https://127.0.0.1:1/x"},
          {"datasets": [{"path": f"`touch {CANARY}`", "type": ""}]}, {"output_dir": "/"}, {"output_dir": "/proc/self"}, {"output_dir": f"$(touch {CANARY})"},
          {"plugins": ["os.system"]}, {"deepspeed": f"$(touch {CANARY})"}, {"fsdp_config": f"; touch {CANARY}"}, {"wandb_project": f"`touch {CANARY}`"},
          {"lora_model_dir": f"'; touch {CANARY}; '"}, {"\x1b[2J": 1}, {f"$(touch {CANARY})": True}, {"sequence_len": f"$(touch {CANARY})"},
          {"optimizer": f"adamw_torch; touch {CANARY}"}, {"max_steps": 10**400}, {"learning_rate": "__import__('os').system('touch r-canary')"}]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: next(iter(value)).encode("unicode_escape").decode())
def test_a_value_of_the_config_is_a_value(value, place, shapes, rows_file):
    config = config_of(place, shapes, rows_file, **value)
    done = command(place, "plan", config, "--json", "--ranks", 1)
    assert done.returncode != 0 or json.loads(done.stdout)["ok"] is True
    command(place, "launch", config, "--dry-run", "--ranks", 1)
    assert not (place / "data").exists() and not list((place / "cwd").iterdir())


DOCUMENTS = [b"base_model: !!python/object/apply:os.system ['touch r-canary']\n", b"!!python/object/new:os.system [touch r-canary]\n",
             b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(b"%c: &%c [%s]\n" % (98 + i, 98 + i, b",".join([b"*%c" % (97 + i)] * 9)) for i in range(12)),
             b"[" * 20000, b"a: " * 5000, b"\0\1\2base_model: x\n", b"\xff\xfe\xfd", b"base_model: \x1b]0;x\x07\n", b"a: *b\n", b"<<: *x\n", b"? {? {? x}}\n"]


@pytest.mark.parametrize("text", DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_a_document_of_yaml_is_data(text, place):
    (place / "config.yaml").write_bytes(text)
    done = command(place, "plan", place / "config.yaml", "--ranks", 1)
    assert done.returncode in (1, 2)


@pytest.mark.parametrize("setting", [f"base_model=$(touch {CANARY})", f"base_model=!!python/object/apply:os.system ['touch {CANARY}']", "=x", "a..b=1",
                                     "datasets.99999999999=1"])
def test_a_setting_is_a_value(setting, place, shapes, rows_file):
    done = command(place, "plan", config_of(place, shapes, rows_file), "--set", setting, "--ranks", 1)
    assert done.returncode in (1, 2) or b"MODEL-MISSING" in done.stdout


@pytest.mark.parametrize("setting", ["a.-1=2", "\x1b[2J=1"])
def test_a_setting_of_an_unknown_key_is_a_warning_without_control_characters(setting, place, shapes, rows_file):
    done = command(place, "plan", config_of(place, shapes, rows_file), "--set", setting, "--ranks", 1)
    assert done.returncode == 0 and b"KEY-UNKNOWN" in done.stdout and b"\x1b" not in done.stdout + done.stderr


class Evil:
    def __reduce__(self):
        return os.system, (f"touch {CANARY}",)


@pytest.mark.slow
def test_code_in_a_models_folder_is_not_run(place, llama, rows_file):
    """Puts Python modules that auto_map names, pickle files and a dataset script into the folder; only shapes, weights
    and the tokenizer may be read."""
    model = place / "model"
    shutil.copytree(llama, model)
    evil = f"import os\nos.system('touch {place}/{CANARY}')\n"
    for name in ("modeling_evil.py", "tokenization_evil.py", "configuration_evil.py", "setup.py", "conftest.py", "sitecustomize.py"):
        (model / name).write_text(evil)
    (model / "pytorch_model.bin").write_bytes(pickle.dumps(Evil()))
    (model / "training_args.bin").write_bytes(pickle.dumps(Evil()))
    shape = json.loads((model / "config.json").read_text())
    shape["auto_map"] = {"AutoConfig": "configuration_evil.EvilConfig", "AutoModelForCausalLM": "modeling_evil.EvilModel"}
    (model / "config.json").write_text(json.dumps(shape))
    (model / "tokenizer_config.json").write_text(json.dumps({"auto_map": {"AutoTokenizer": ["tokenization_evil.EvilTokenizer", None]},
                                                             "tokenizer_class": "EvilTokenizer", "chat_template": "{{ cycler.__init__.__globals__.os.popen('touch r-canary').read() }}"}))
    data = place / "data set"
    data.mkdir()
    (data / "data set.py").write_text(evil)
    shutil.copy(rows_file, data / "rows.jsonl")
    for keys in ({"trust_remote_code": True}, {"datasets": [{"path": str(data), "type": ""}], "trust_remote_code": True},
                 {"datasets": [{"path": str(rows_file), "type": "chat_template"}]}):
        command(place, "prepare", make_config(place, model, rows_file, **keys), "--ranks", 1)


@pytest.mark.slow
def test_weights_outside_the_models_folder_are_not_read(place, llama, rows_file):
    model = place / "model"
    shutil.copytree(llama, model)
    outside = place / "outside.safetensors"
    shutil.move(model / "model.safetensors", outside)
    index = {"metadata": {}, "weight_map": {"model.embed_tokens.weight": "../outside.safetensors"}}
    (model / "model.safetensors.index.json").write_text(json.dumps(index))
    done = command(place, "launch", make_config(place, model, rows_file, max_steps=1), "--ranks", 1, "--no-preflight")
    assert done.returncode in (1, 2), done.stdout + done.stderr


def launch_there(client, place, config, *arguments, **options):
    return command(place, "launch", config, "--runs-dir", place / "runs", "--node", "a", "--ranks", 1, "--no-preflight", *arguments,
                   env=client.env(), **options)


@pytest.mark.slow
def test_a_run_elsewhere_of_names_that_mean_harm_is_a_run(client, place, llama, rows_file):
    """Puts commands for a shell into the names of the node's folder, the run, the config's folder, the model's folder
    and files, the rows and output_dir."""
    trick = f"it's $(touch {CANARY}) `touch {CANARY}`; touch {CANARY} & \"x\" \\ * ~ %s"
    data = f"{client.folder}/a/home/data $(touch {CANARY}) `touch {CANARY}` it's; touch {CANARY} & *"
    server = client.serve("a", environment=f'"XDG_DATA_HOME={data}"')
    client.host("a", server)
    folder = place / trick
    model = folder / f"model {trick}"
    shutil.copytree(llama, model)
    for name in TRICKS:
        (model / f"{name}.json").write_text("{}")
    rows = folder / f"rows {trick}.jsonl"
    shutil.copy(rows_file, rows)
    config = make_config(folder, model, rows, max_steps=1, output_dir=str(folder / f"out {trick}"), wandb_project=trick)
    done = launch_there(client, place, config, "--name", f"run {trick}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / f"out {trick}/model.safetensors").exists()
    written = {file.relative_to(server.home).parts[0] for file in server.home.rglob("*") if file.is_file()}
    assert len(written) == 1 and next(iter(written)).startswith("data"), written
    assert {path.name for path in place.iterdir()} <= {"home", "cwd", "cache", "data", "runs", "client", trick}
    assert not list((place / "cwd").iterdir())


@pytest.mark.slow
def test_a_file_with_a_line_break_in_its_name_is_said_and_not_sent(client, place, llama, rows_file):
    client.host("a", client.serve("a"))
    model = place / "model"
    shutil.copytree(llama, model)
    (model / f"a\ntouch {CANARY}.json").write_text("{}")
    done = launch_there(client, place, make_config(place, model, rows_file, max_steps=1))
    assert done.returncode == 2 and b"line break" in done.stderr, done.stderr


def test_a_node_that_answers_with_more_than_facts_gets_nothing_run(client, place):
    """The node's login shell forges answers that contain a terminal's control sequences."""
    server = client.serve("liar")
    script = server.folder / "lies.sh"
    script.write_text(f"""#!/bin/sh
printf '\\033]0;owned\\007\\033[2J data_dir $(touch {CANARY})\\nlibtorch `touch {CANARY}`\\nend ok\\n'
XDG_DATA_HOME='{server.home}/$(touch {CANARY});x' HOME='{server.home}/`touch {CANARY}`' exec sh -c "$SSH_ORIGINAL_COMMAND"
""")
    script.chmod(0o755)
    key = pathlib.Path(f"{client.key}.pub").read_text()
    (server.folder / "authorized_keys").write_text(f'command="{script}" {key}')
    client.host("liar", server)
    for arguments in (["nodes", "--node", "liar"], ["nodes", "--node", "liar", "--deep", "--json"]):
        command(place, *arguments, env=client.env())


def test_there_are_more_than_fifty_of_them():
    from test_nodes_command import HOSTILE

    assert len(HOSTILE) + len(DIRECTIVES) + len(TRICKS) + len(VALUES) + len(DOCUMENTS) >= 50
