"""Sends one alert to a webhook: a POST of JSON, with a time limit, and a second and third try if the server fails.

stdin: {"url": "https://…", "body": {…}}. The address may be a secret, so messages name only its
host."""
from __future__ import annotations

import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

TRIES = 3
PAUSES_S = (2, 8)
TIMEOUT_S = 10
MOST_INPUT = 64 << 10
SENT, REFUSED, NOT_REACHED = 0, 2, 3


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: urllib would repeat the request as a GET, to an address that the user did
    not configure."""

    def redirect_request(self, *_):
        return None


def post(url: str, body: bytes) -> None:
    """Raises urllib.error.HTTPError, OSError or ValueError if the server does not take the body."""
    request = urllib.request.Request(url, data=body, method="POST",
                                     headers={"Content-Type": "application/json", "User-Agent": "ringmaster"})
    with urllib.request.build_opener(NoRedirect).open(request, timeout=TIMEOUT_S) as answer:
        answer.read(1)


def deliver(url: str, body: bytes, sleep=time.sleep) -> int:
    host = urllib.parse.urlsplit(url).hostname or "the webhook"
    for attempt in range(TRIES):
        try:
            post(url, body)
            return SENT
        except urllib.error.HTTPError as problem:
            print(f"webhook: {host} answered {problem.code}", file=sys.stderr, flush=True)
            if problem.code < 500 and problem.code != 429:
                return REFUSED
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "reason", None) or type(problem).__name__
            print(f"webhook: {host} was not reached: {str(reason)[:200]}", file=sys.stderr, flush=True)
        if attempt < TRIES - 1:
            sleep(PAUSES_S[attempt])
    return NOT_REACHED


def main() -> int:
    asked = json.loads(sys.stdin.buffer.read(MOST_INPUT))
    url = asked["url"]
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        return REFUSED
    return deliver(url, json.dumps(asked["body"]).encode())
