"""The program that ringmaster-agent starts:

    python ringmaster_track check SETTINGS         prints which trackers this Python can send to, one per line
    python ringmaster_track send RUN TRACKER [--mirror]    follows RUN until it is over and all is sent
    python ringmaster_track post                   sends one alert to a webhook; see post.py

Exit status: 0 everything is sent, 2 the tracker is not set up or refuses, 3 it could not be reached for too long.
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # so that modules here hide no package

from ringmaster_track import check, follow, post  # noqa: E402


def main(words):
    if len(words) == 2 and words[0] == "check":
        return check.main(words[1])
    if len(words) >= 3 and words[0] == "send":
        return follow.main(words[1], words[2], mirror="--mirror" in words[3:])
    if words == ["post"]:
        return post.main()
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
