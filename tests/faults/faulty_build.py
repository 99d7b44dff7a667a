"""Builds programs with a patch in them. Patched copies of the touched files are compiled and linked before the build's
libraries, which provide the rest. The source tree and the build stay unchanged."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

ROOT = pathlib.Path(__file__).parent.parent.parent
# The blocks of layers are headers. This source file includes them, so it is compiled again if a block is patched.
RUNS_BLOCKS = "engine/model/decoder.cpp"
BUILD = pathlib.Path(os.environ["RINGMASTER_BIN"]).parent if "RINGMASTER_BIN" in os.environ else ROOT / "build"


def touched_files(patches):
    return sorted({line[6:].split("\t")[0].strip() for patch in patches for line in patch.read_text().splitlines()
                   if line.startswith("+++ b/")})


def apply(patches, folder):
    """Copies the files that the patches touch to `folder` and patches the copies. Raises AssertionError if a patch does
    not apply."""
    for file in touched_files(patches):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, folder / file)
    # If the folder lies inside a checkout, `git apply` would ignore files that are not in that checkout.
    outside = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.resolve().parent)}
    for patch in patches:
        done = subprocess.run(["git", "apply", str(patch.resolve())], cwd=folder, env=outside, capture_output=True, text=True)
        assert done.returncode == 0, f"{patch.name} does not apply: {done.stderr}"


def compile_command(entry, source, object_file, folder):
    words = shlex.split(entry["command"])
    first = next(i for i, word in enumerate(words) if word.startswith("-I"))
    words.insert(first, f"-I{folder}")  # headers of the first folder win
    words[words.index("-o") + 1] = str(object_file)
    words[words.index("-c") + 1] = str(source)
    # A fault may leave a name unused, so warnings must not be errors; -O1 compiles faster, and compiling takes most of the
    # time.
    return ["-O1" if word == "-O3" else word for word in words if word != "-Werror"]


def is_of_a_test(entry):
    """Returns whether the compile command belongs to a test. Such commands compile engine sources again for the
    test."""
    words = shlex.split(entry["command"])
    return words[words.index("-o") + 1].startswith("tests/")


def touched_sources(patches):
    return sorted({RUNS_BLOCKS if file.startswith("engine/blocks/") else file for file in touched_files(patches)})


def compiled(folder, patches):
    entries = json.loads((BUILD / "compile_commands.json").read_text())
    objects = []
    for file in touched_sources(patches):
        source = folder / file if (folder / file).exists() else ROOT / file
        of_file = [entry for entry in entries if pathlib.Path(entry["file"]) == ROOT / file and not is_of_a_test(entry)]
        assert of_file, f"no command compiles {file}: patch a source file, not a header"
        for number, entry in enumerate(of_file):
            objects.append(folder / f"{file}.{number}.o")
            objects[-1].parent.mkdir(parents=True, exist_ok=True)
            done = subprocess.run(compile_command(entry, source, objects[-1], folder), cwd=entry["directory"],
                                  capture_output=True, text=True)
            assert done.returncode == 0, f"{file} does not compile with {[patch.name for patch in patches]}:\n{done.stderr[-3000:]}"
    return objects


def linked(target, objects, program):
    """Links `target`, ninja's name of a program such as "bin/ringmaster-engine", with the objects."""
    commands = subprocess.run(["ninja", "-C", str(BUILD), "-t", "commands", "-s", target], capture_output=True, text=True, check=True)
    steps = [step for line in commands.stdout.splitlines() for step in line.split(" && ")]
    words = shlex.split([step for step in steps if re.search(r" -o " + re.escape(target) + r"( |$)", step)][-1])
    words = [word.replace("\\$", "$") for word in words]  # shlex keeps a backslash before $ within quotes
    at = words.index("-o")
    words[at + 1] = str(program)
    words[at:at] = map(str, objects)
    done = subprocess.run(words, cwd=BUILD, capture_output=True, text=True)
    assert done.returncode == 0, f"{target} does not link:\n{done.stderr[-3000:]}"
    return program


def faulty_program(patches, folder, target="bin/ringmaster-engine"):
    """Builds the program with these patches in `folder`."""
    patches = [pathlib.Path(patch) for patch in patches]
    apply(patches, folder)
    (folder / "libtorch").symlink_to(BUILD / "bin/libtorch")  # the engine finds LibTorch through this link
    return linked(target, compiled(folder, patches), folder / pathlib.Path(target).name)
