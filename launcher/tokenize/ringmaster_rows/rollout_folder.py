"""Takes rows of `rl: grpo` from a folder into which another program puts files while the run
trains. The engine starts it as a separate process:

    ringmaster_tokenize.py --rollouts FILE.json

The file is {"folder", "timeout": seconds for one step's rows, "journal": a file, "sequence_len",
"excess_length", "vocab_size"}. Requests come on stdin and answers go to stdout, one line of JSON
each:

    {"take": {"begin", "count", "to": a file}}
    {"ready": []}, then for each question {"waiting": {"seconds", "timeout"}} repeatedly, and {"rows": count}

or {"error", "where", "hint", "exit"}, after which the process ends. `begin` counts the rows that the run has used. The rows are written as
a tokens.safetensors, like the rows of a file that exists from the start (ringmaster_rows/rollouts.py).

Files are taken in order of their names, each once. The journal has a line for each file that was
taken: its name, its rows, and a digest of them. A resumed run reads the files that it still
needs by the journal, so that it trains on the same rows even if other files came in between. A
file is used only after all of it has been read; one that cannot be used is read again, in case
it was being written, and ends the run after three attempts."""

import fcntl
import json
import os
import select
import stat
import time
from hashlib import blake2b
from pathlib import Path

from .cache import read_json
from .encoders import check_ids
from .prepare import MIN_LENGTH, within_length
from .report import UNREACHABLE, Failure
from .rollouts import rollouts
from .rows import json_rows
from .sources import Source, ds_type
from .tokens import Rows, write_tokens

PATIENT_WITH_FILES = 3  # attempts to read a file that cannot be used
PAUSES = (0.5, 15.0)  # seconds between attempts: the first, and the longest
LOOK_EVERY = 0.2  # seconds between two listings of the folder
TELL_AFTER, TELL_EVERY = 1.0, 2.0  # seconds until the first line that reports waiting, and between two such lines
PATIENT_WITH_OTHERS = 30.0  # seconds for a process of a killed engine to end
UNFINISHED = (".tmp", ".part")  # suffixes of files that are ignored
MOST_FILES = 1_000_000  # maximum number of names in the folder
MOST_BYTES = 1 << 32  # maximum bytes of a file
MOST_ARRAY_BYTES = 1 << 28  # maximum bytes of a file that is one JSON array, which is parsed as a whole
MOST_TOKENS = 1 << 27  # maximum tokens of all rows of a file together


class Unusable(Exception):
    """Raised if a file cannot be used as it is now."""

    def __init__(self, what, where, hint=""):
        super().__init__(what)
        self.where, self.hint = where, hint


def answer_questions(request_file, report):
    """Answers requests until stdin ends."""
    settings = read_json(request_file)
    claim = claimed(settings["journal"] + ".lock")
    folder = RolloutFolder(settings, report)
    report.line({"ready": []})
    with os.fdopen(os.dup(0), "r", encoding="utf-8") as questions:
        for line in questions:
            asked = json.loads(line)["take"]
            folder.write(asked["begin"], asked["count"], asked["to"])
            report.line({"rows": asked["count"]})
    os.close(claim)


def claimed(path):
    """Opens and locks a file for as long as this process runs, so that two processes never write
    one journal."""
    lock, deadline = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), time.monotonic() + PATIENT_WITH_OTHERS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return lock
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise Failure("another process takes rows for this run", path, "end it, then resume the run") from None
            time.sleep(LOOK_EVERY)


def leave_if_alone():
    """Ends this process if the engine that started it is gone."""
    engine = select.poll()
    engine.register(0, select.POLLHUP)
    if any(event & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, event in engine.poll(0)):
        raise SystemExit(1)


class Taken:
    """Holds a file that was taken: its place in the run's sequence of rows, and its rows as long as
    they may be needed."""

    def __init__(self, name, begin, rows, digest, examples=None):
        self.name, self.begin, self.rows, self.digest, self.examples = name, begin, rows, digest, examples

    @property
    def end(self):
        return self.begin + self.rows


class RolloutFolder:
    def __init__(self, settings, report):
        self.settings, self.report = settings, report
        self.folder, self.journal = Path(settings["folder"]), Path(settings["journal"])
        self.taken = self.read_journal()
        self.late = set()  # names of unused files that came too late; a warning was given about each

    def write(self, begin, count, path):
        """Writes rows [begin, begin + count) of the run's sequence; waits for files that are not there yet."""
        for file in self.taken:
            if file.end <= begin:
                file.examples = None  # a run never reads earlier rows again
        self.wait_for(begin + count)
        scratch = Path(path).parent
        rows = Rows(scratch, "taken")
        for file in self.taken:
            low, high = max(begin, file.begin), min(begin + count, file.end)
            if low < high:
                for example in self.examples_of(file)[low - file.begin : high - file.begin]:
                    rows.add(example)
        rows.close()
        aside = Path(f"{path}.aside")
        write_tokens(aside, rows, [[index] for index in range(count)], lambda *_: None, True)
        rows.remove()
        os.replace(aside, path)

    def total(self):
        return self.taken[-1].end if self.taken else 0

    def wait_for(self, rows):
        """Takes files until there are `rows` rows in all. Raises a Failure if they do not arrive in the time for one step's rows."""
        begun, tell_at, failed, pause = time.monotonic(), TELL_AFTER, 0, PAUSES[0]
        while self.total() < rows:
            waited, timeout = time.monotonic() - begun, self.settings["timeout"]
            try:
                if self.take_next():
                    failed, pause = 0, PAUSES[0]
                    continue
                problem, delay = None, LOOK_EVERY
            except Unusable as error:
                problem, failed, delay = error, failed + 1, pause
                if failed == PATIENT_WITH_FILES:
                    raise Failure(f"{error} ({failed} attempts)", error.where,
                                  error.hint or "correct the file under another name and rename it, or remove it, then resume the run") from error
                pause = min(2 * pause, PAUSES[1])
                self.report.warning(f"{error.where}: {error}; the next attempt is in {delay:g} s")
            if waited + delay >= timeout:
                raise self.too_late(rows, problem)
            if waited >= tell_at:
                self.report.line({"waiting": {"seconds": int(waited) if tell_at > TELL_AFTER else 0, "timeout": timeout}})
                tell_at = waited + TELL_EVERY
            leave_if_alone()
            time.sleep(delay)

    def too_late(self, rows, problem):
        timeout = self.settings["timeout"]
        what = f"the file cannot be used: {problem}" if problem else "no new file came"
        return Failure(f"{rows - self.total()} more rows were needed, and within {timeout} s {what}", problem.where if problem else str(self.folder),
                       "start the program that writes the files, or raise trl.rollout_timeout; then resume the run", UNREACHABLE)

    def take_next(self):
        """Reads the next file and adds it to the journal. Returns whether there was one."""
        name = self.next_name()
        if name is None:
            return False
        examples, digest = self.read(name)
        if not examples:
            self.report.warning(f"{self.folder / name} holds no row that fits")
        file = Taken(name, self.total(), len(examples), digest, examples)
        self.note(file)
        self.taken.append(file)
        return True

    def next_name(self):
        """Returns the first name after that of the newest file that was taken; None if there is none."""
        newest = os.fsencode(self.taken[-1].name) if self.taken else b""
        known = {file.name for file in self.taken}
        after = []
        for name in self.names():
            if os.fsencode(name) > newest:
                after.append(os.fsencode(name))
            elif name not in known and name not in self.late:
                self.late.add(name)
                self.report.warning(f"{self.shown(name)} came after {self.shown(self.taken[-1].name)} had been taken, and is not used: names have to ascend")
        return os.fsdecode(min(after)) if after else None

    def names(self):
        names = []
        try:
            with os.scandir(self.folder) as entries:
                for entry in entries:
                    if entry.name.startswith(".") or entry.name.endswith(UNFINISHED) or is_folder(entry):
                        continue
                    names.append(entry.name)
                    if len(names) > MOST_FILES:
                        raise Unusable(f"the folder holds more than {MOST_FILES} files", str(self.folder), "remove those that were used")
        except (FileNotFoundError, NotADirectoryError):
            return []  # the program that writes the files may create it later
        except OSError as error:
            raise Unusable(f"the folder cannot be read: {error.strerror}", str(self.folder)) from error
        return names

    def shown(self, name):
        text = str(self.folder / name).encode("utf-8", "backslashreplace").decode()
        return "".join(letter if letter.isprintable() else "?" for letter in text)

    def read(self, name):
        """Returns the examples of a file and a digest of their order and content. Raises Unusable."""
        path, where = self.folder / name, self.shown(name)
        if where != str(path):
            raise Unusable("the name holds signs that cannot be shown", where, "rename the file")
        self.check_kind(path, where)
        examples, tokens, long, digest = [], 0, 0, blake2b(digest_size=16)
        try:
            for example in rollouts(json_rows(path, self.report, MOST_ARRAY_BYTES), self.settings["sequence_len"]):
                check_ids(example, self.settings["vocab_size"])
                if not self.fits(example):
                    long += 1
                    continue
                tokens += len(example.input_ids)
                if tokens > MOST_TOKENS:
                    raise Unusable(f"the rows have more than {MOST_TOKENS} tokens", str(example.place), "write several files")
                examples.append(example)
                digest.update(example.same)
        except Failure as failure:
            raise Unusable(failure.what, failure.where or where, failure.hint) from failure
        except OSError as error:
            raise Unusable(f"cannot be read: {error.strerror or error}", where) from error
        if long:
            self.report.warning(f"{where}: {long} rows are longer than sequence_len, {self.settings['sequence_len']} tokens, and are left out")
        return examples, digest.hexdigest()

    def check_kind(self, path, where):
        try:
            found = path.stat()
        except OSError as error:
            raise Unusable(f"cannot be read: {error.strerror}", where) from error
        if not stat.S_ISREG(found.st_mode):
            raise Unusable("is no ordinary file", where)
        if found.st_size > MOST_BYTES:
            raise Unusable(f"has more than {MOST_BYTES} bytes", where, "write several files")
        if ds_type(Source({}, "trl.rollout_folder"), path) != "json":
            raise Unusable("is no file of JSON rows", where, "write one JSON object a line into files such as 000001.jsonl")

    def fits(self, example):
        counts = dict.fromkeys(("dropped_long", "dropped_short", "truncated"), 0)
        request = {"sequence_len": self.settings["sequence_len"], "excess_length": self.settings["excess_length"], "sample_packing": False}
        return within_length(example, request, counts, MIN_LENGTH, self.settings["excess_length"]) is not None

    def examples_of(self, file):
        """Returns a taken file's examples; reads it again after a resume, and checks that they are the same."""
        if file.examples is None:
            hint = "put the file that the run has taken back, then resume the run; or launch a new run"
            try:
                examples, digest = self.read(file.name)
            except Unusable as error:
                raise Failure(f"its rows are needed again: {error}", error.where, hint) from error
            if len(examples) != file.rows or digest != file.digest:
                raise Failure("holds other rows than when the run took it", self.shown(file.name), hint)
            file.examples = examples
        return file.examples

    def read_journal(self):
        """Returns the files of the journal. Removes an incomplete last line: the rows of its file
        were not used."""
        taken, good = [], 0
        try:
            text = self.journal.read_bytes()
        except FileNotFoundError:
            return taken
        for line in text.splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break
            good += len(line)
            taken.append(self.entry(line, taken))
        if good < len(text):
            os.truncate(self.journal, good)
        return taken

    def entry(self, line, before):
        try:
            read = json.loads(line)
            name, rows, digest = read["file"], read["rows"], read["digest"]
        except (ValueError, KeyError, TypeError) as error:
            raise Failure("a line of the journal of files is damaged", str(self.journal), "launch a new run") from error
        if not isinstance(name, str) or os.sep in name or name in ("", ".", "..") or type(rows) is not int or rows < 0:
            raise Failure("a line of the journal of files is damaged", str(self.journal), "launch a new run")
        return Taken(name, before[-1].end if before else 0, rows, digest)

    def note(self, file):
        """Adds a file to the journal before any of its rows is used."""
        is_new = not self.journal.exists()
        with open(self.journal, "ab") as journal:
            journal.write(json.dumps({"file": file.name, "rows": file.rows, "digest": file.digest}).encode() + b"\n")
            journal.flush()
            os.fsync(journal.fileno())
        if is_new:
            folder = os.open(self.journal.parent, os.O_RDONLY | os.O_DIRECTORY)
            os.fsync(folder)
            os.close(folder)


def is_folder(entry):
    try:
        return entry.is_dir()
    except OSError:
        return False
