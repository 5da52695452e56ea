"""Made whole.tar.xz, with the last hearth before its folders and modules were laid out anew (commit 91e5f2a).

    HEARTH_BINARY=/path/to/that/hearth python3 Tests/Clients/Folders/make_whole.py

It has `data` with every kind of record in a checkpoint and in the log behind it, as a server left it that was killed,
`backup` of the same, `key.json` of its service account, and `twin.json`: what must be seen of it. It is kept for ever.
"""

import json
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from whole_folder import WholeFolder  # noqa: E402
from wire_client import Wire  # noqa: E402


def needed(member):
    """The lock and the room for the next segment are made anew; secrets and keys stay, so that old tokens count."""
    return None if member.name.startswith(("data/LOCK", "data/log/spare")) else member


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with WholeFolder(folder / "data", folder / "key.json") as whole:
            whole.fill_data()
            whole.fill_settings()
            refresh = whole.fill_accounts()
            whole.await_checkpoint()
            # The tail of the log: one more of each.
            whole.ask("PUT", "/tail.json?ns=one", {"after": "the checkpoint", ".priority": 1})
            whole.ask("PUT", "/.settings/defaultWriteSizeLimit.json?ns=one", "medium")
            whole.run("users", "create", "--uid", "late", "--email", "late@example.com")
            with Wire(whole.server.port, ns="one") as client:
                credential = whole.admin["Authorization"].split()[1]
                assert client.request("auth", cred=credential)[0]["s"] == "ok"
                assert client.request("o", p="/left", d="by a server that was killed")[0]["s"] == "ok"
                state = whole.state()
                whole.run("backup", folder / "backup")
                whole.server.kill()
        (folder / "twin.json").write_text(json.dumps({"state": state, "refresh": refresh}))
        with tarfile.open(HERE / "whole.tar.xz", "w:xz", preset=9) as archive:
            for part in ("data", "backup", "key.json", "twin.json"):
                archive.add(folder / part, part, filter=needed)


if __name__ == "__main__":
    main()
