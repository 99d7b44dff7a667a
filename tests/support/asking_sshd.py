"""Runs an sshd with our own PAM module, which asks the questions in a file. A mount namespace keeps the machine's /etc/pam.d
unchanged."""

import os
import pty
import select
import subprocess
import time

import pytest

from ringmaster_runs import BIN

# The module reads one question per line: how|prompt|answer. `how` is hidden, shown, or info (needs no answer).
MODULE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { SUCCESS = 0, AUTH_ERR = 7, HIDDEN = 1, SHOWN = 2, INFO = 4 };
int pam_prompt(void *pamh, int style, char **answer, const char *form, ...);
int pam_sm_setcred(void *pamh, int flags, int argc, const char **argv) { (void)pamh, (void)flags, (void)argc, (void)argv; return SUCCESS; }
int pam_sm_authenticate(void *pamh, int flags, int argc, const char **argv) {
    char line[512];
    int result = SUCCESS;
    FILE *questions = argc == 1 ? fopen(argv[0], "r") : NULL;
    (void)flags;
    if (questions == NULL) return AUTH_ERR;
    while (result == SUCCESS && fgets(line, sizeof line, questions) != NULL) {
        char *said = NULL, *rest = line;
        line[strcspn(line, "\n")] = '\0';
        char *how = strsep(&rest, "|"), *prompt = strsep(&rest, "|");
        if (*how == 'i') { pam_prompt(pamh, INFO, NULL, "%s", prompt); continue; }
        if (pam_prompt(pamh, *how == 'h' ? HIDDEN : SHOWN, &said, "%s", prompt) != SUCCESS || said == NULL || strcmp(said, rest) != 0) result = AUTH_ERR;
        free(said);
    }
    fclose(questions);
    return result;
}
"""


@pytest.fixture(scope="session")
def pam_module(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pam")
    (folder / "questions.c").write_text(MODULE)
    subprocess.run(["cc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", folder / "questions.so", folder / "questions.c"], check=True)
    return folder / "questions.so"


def serve_asking(client, module, name, questions, *options):
    """Starts a trusted server `name` for `client` whose logins ask `questions` (how, prompt, answer)."""
    folder = client.folder / f"{name}-pam"
    folder.mkdir()
    (folder / "questions").write_text("".join("|".join(question) + "\n" for question in questions))
    (folder / "service").write_text(f"auth required {module} {folder}/questions\naccount required pam_permit.so\nsession required pam_permit.so\n")
    inside = ["unshare", "-m", "sh", "-c", f'mount --bind "{folder}/service" /etc/pam.d/sshd && exec "$@"', "sh"]
    server = client.serve(name, inside=inside, options=["UsePAM yes", "PermitRootLogin yes", *options])
    client.host(name, server)
    return server


def at_terminal(client, *arguments, answers=(), timeout=60):
    """Runs the command line at a terminal and types each answer when its question appears. Returns (exit status, everything
    that was shown)."""
    pid, tty = pty.fork()
    if pid == 0:
        os.execve(BIN / "ringmaster", ["ringmaster", *map(str, arguments)], client.env(TERM="xterm"))
    shown, asked, left, end = "", 0, list(answers), time.monotonic() + timeout
    while time.monotonic() < end:
        if not select.select([tty], [], [], 0.2)[0]:
            continue
        try:
            came = os.read(tty, 65536)
        except OSError:  # no process has the terminal open any more
            break
        if not came:
            break
        shown += came.decode(errors="replace")
        if left and left[0][0] in shown[asked:]:
            asked = len(shown)
            os.write(tty, (left.pop(0)[1] + "\n").encode())
    else:
        os.kill(pid, 9)
    _, status = os.waitpid(pid, 0)
    os.close(tty)
    return os.waitstatus_to_exitcode(status), shown.replace("\r", "")
