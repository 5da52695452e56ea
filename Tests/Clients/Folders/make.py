"""Made the data folders and backups in this directory, with hearth 0.1.0, which could not read them itself.

    HEARTH_BINARY=/path/to/hearth-0.1.0 python3 Tests/Clients/Folders/make.py

Each is an archive NAME.tar.xz of `data` (a folder whose server was stopped or killed), `backup` where there is
one, and `twin.json`: what the databases hold. They are kept for ever: every later server opens them.
"""

import hashlib
import json
import random
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from hearth_server import BINARY, Hearth  # noqa: E402
from signing import unsigned  # noqa: E402
from wire_client import Wire  # noqa: E402

VALUE = "v" * 150
NS = "?ns=demo"
CLAIMS = {
    "https://example.com/role": "admin",
    "firebase": {"identities": {"google.com": ["1"], "": {"[x]#$": True}}, "a.b": 1},
    "control \u0001\u007f": "text",
}


def orders():
    shuffled = [f"k{n:04}" for n in range(300)]
    random.Random(1).shuffle(shuffled)
    return {
        "descending": [f"k{n:04}" for n in range(31, 0, -1)],
        "shuffled": shuffled,
        "hashes": [hashlib.sha1(str(n).encode()).hexdigest() for n in range(2000)],
        "newestFirst": [str(-1_700_000_000 - n) for n in range(500)],
        "uids": [hashlib.sha256(str(n).encode()).hexdigest()[:28] for n in range(300)],
    }


def put_all(server, twin):
    """Puts every order's keys one by one, as a client that writes them as they come."""
    with Wire(server.port) as client:
        for name, keys in orders().items():
            sent = [client.send("p", p=f"/{name}/{key}", d=VALUE) for key in keys]
            for number in sent:
                assert client.reply(number)[0]["s"] == "ok"
            twin[name] = {key: VALUE for key in keys}


def await_checkpoint(server, data):
    """Commits 36 MiB, which is when a checkpoint is made."""
    for character in "wxyz":
        assert server.put(f"/pad.json{NS}&print=silent", character * 9_000_000).status == 204
    deadline = time.monotonic() + 20
    while not any(path.suffix == "" for path in (data / "checkpoints").iterdir()):
        assert time.monotonic() < deadline, "no checkpoint was made"
        time.sleep(0.05)


def checkpoint(folder):
    twin = {}
    with Hearth(data=folder / "data") as server:
        put_all(server, twin)
        await_checkpoint(server, folder / "data")
        assert server.request("DELETE", f"/pad.json{NS}").status == 200
        made = subprocess.run([BINARY, "backup", "--url", server.address, folder / "backup"])
        assert made.returncode == 0
        assert server.stop() == 0
    return {"demo": twin}


def records(folder):
    """Nodes that are edited before they are logged; killed, so that the log is all there is."""
    twin = {}
    with Hearth(data=folder / "data") as server:
        descending = {f"k{n:05}": VALUE[:100] for n in range(6000, 0, -1)}
        text = "{" + ",".join(f'"{k}":"{v}"' for k, v in descending.items()) + "}"
        assert server.request("PUT", f"/descending.json{NS}", raw=text.encode()).status == 200
        members = [f'"k{n}":"plain"' for n in range(200)]
        members += [f'"a{n}":{{".sv":{{"increment":{n + 1}}}}}' for n in range(300)]
        text = "{" + ",".join(members) + "}"
        assert server.request("PUT", f"/mixed.json{NS}", raw=text.encode()).status == 200
        server.kill()
    twin["descending"] = descending
    twin["mixed"] = {f"k{n}": "plain" for n in range(200)} | {f"a{n}": n + 1 for n in range(300)}
    return {"demo": twin}


def claims(folder):
    """On-disconnect writes of people whose tokens have claims with odd keys, in a checkpoint and in the log."""
    with Hearth(data=folder / "data") as server:
        with Wire(server.port) as first, Wire(server.port) as second:
            for client, name in ((first, "ann"), (second, "bob")):
                token = unsigned({"sub": name, "user_id": name, "iat": 1, **CLAIMS})
                assert client.request("auth", cred=token)[0]["s"] == "ok"
                assert client.request("o", p=f"/gone/{name}", d=name)[0]["s"] == "ok"
                if client is first:
                    await_checkpoint(server, folder / "data")
                    assert server.request("DELETE", f"/pad.json{NS}").status == 200
            server.kill()
    return {"demo": {"gone": {"ann": "ann", "bob": "bob"}}}


def needed(member):
    """Secrets and keys are made anew by each server, the room for the next segment as well."""
    parts = ("data/admin-secret", "data/keys", "data/LOCK", "data/log/spare")
    return None if member.name.startswith(parts) else member


def main():
    for make in (checkpoint, records, claims):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            twin = make(folder)
            (folder / "twin.json").write_text(json.dumps(twin))
            with tarfile.open(HERE / f"{make.__name__}.tar.xz", "w:xz", preset=9) as archive:
                for part in ("data", "backup", "twin.json"):
                    if (folder / part).exists():
                        archive.add(folder / part, part, filter=needed)


if __name__ == "__main__":
    main()
