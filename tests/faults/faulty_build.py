"""Programs with a patch in them: the touched files are compiled again from patched copies, and linked before the libraries of the
build, which give the rest. Nothing of the tree or of the build is changed."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

ROOT = pathlib.Path(__file__).parent.parent.parent
BUILD = pathlib.Path(os.environ["RINGMASTER_BIN"]).parent if "RINGMASTER_BIN" in os.environ else ROOT / "build"


def touched_files(patches):
    return sorted({line[6:].split("\t")[0].strip() for patch in patches for line in patch.read_text().splitlines()
                   if line.startswith("+++ b/")})


def apply(patches, folder):
    """Copies of the files that the patches touch, patched, in `folder`. Raises AssertionError if one does not apply."""
    for file in touched_files(patches):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, folder / file)
    # Inside of a checkout git would leave out what is not below it.
    outside = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.resolve().parent)}
    for patch in patches:
        done = subprocess.run(["git", "apply", str(patch.resolve())], cwd=folder, env=outside, capture_output=True, text=True)
        assert done.returncode == 0, f"{patch.name} does not apply: {done.stderr}"


def compile_command(entry, source, object_file, folder):
    words = shlex.split(entry["command"])
    words[words.index("-o") + 1] = str(object_file)
    words[words.index("-c") + 1] = str(source)
    # A fault may leave a name unused; compiling takes most of the time, not running.
    return ["-O1" if word == "-O3" else word for word in words if word != "-Werror"]


def is_of_a_test(entry):
    """Whether a test compiles the file once more for itself."""
    words = shlex.split(entry["command"])
    return words[words.index("-o") + 1].startswith("tests/")


def compiled(folder, patches):
    entries = json.loads((BUILD / "compile_commands.json").read_text())
    objects = []
    for file in touched_files(patches):
        of_file = [entry for entry in entries if pathlib.Path(entry["file"]) == ROOT / file and not is_of_a_test(entry)]
        assert of_file, f"no command compiles {file}: patch a source file, not a header"
        for number, entry in enumerate(of_file):
            objects.append(folder / f"{file}.{number}.o")
            done = subprocess.run(compile_command(entry, folder / file, objects[-1], folder), cwd=entry["directory"],
                                  capture_output=True, text=True)
            assert done.returncode == 0, f"{file} does not compile with {[patch.name for patch in patches]}:\n{done.stderr[-3000:]}"
    return objects


def linked(target, objects, program):
    """`target` is ninja's name of a program: "bin/ringmaster-engine"."""
    commands = subprocess.run(["ninja", "-C", str(BUILD), "-t", "commands", "-s", target], capture_output=True, text=True, check=True)
    steps = [step for line in commands.stdout.splitlines() for step in line.split(" && ")]
    words = shlex.split([step for step in steps if re.search(r" -o " + re.escape(target) + r"( |$)", step)][-1])
    words = [word.replace("\\$", "$") for word in words]  # a shell's escape that shlex leaves within quotes
    at = words.index("-o")
    words[at + 1] = str(program)
    words[at:at] = map(str, objects)
    done = subprocess.run(words, cwd=BUILD, capture_output=True, text=True)
    assert done.returncode == 0, f"{target} does not link:\n{done.stderr[-3000:]}"
    return program


def faulty_program(patches, folder, target="bin/ringmaster-engine"):
    """The program with these patches in it, in `folder`."""
    patches = [pathlib.Path(patch) for patch in patches]
    apply(patches, folder)
    (folder / "libtorch").symlink_to(BUILD / "bin/libtorch")  # where the engine's own search path leads
    return linked(target, compiled(folder, patches), folder / pathlib.Path(target).name)
