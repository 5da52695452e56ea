"""A data folder with every kind of record: how a server fills one, and everything that a later server must show of it."""

import json
import time
import urllib.parse

from command_line import hearth
from hearth_server import Hearth
from production_server import GRANT, assertion
from wire_client import Wire

FLAGS = ("--project", "demo", "--database", "one", "--database", "two")
IDENTITY = "/identitytoolkit.googleapis.com/v1/accounts"
PASSWORDS = {"ann@example.com": "Ann's own password", "bob@example.com": "Bob's own password"}
RULES = [
    '{"rules": {/* the first */ ".read": "auth != null"}}',
    '{"rules": {/* the second */ ".read": "auth != null", "list": {".indexOn": ["n", "deep/er"]},\n'
    '  "users": {"$uid": {".write": "auth.uid === $uid", ".validate": "newData.hasChild(\'name\')"}}}}',
]
EDGES = {
    "numbers": [0, -1.5, 1e308, 5e-324, 2**63 - 1, -(2**63), 9007199254740993],
    "texts": ["", "\u0000", "\ufeff", "é", "e\u0301", "中", "😀", "x" * 300_000],
    "flags": {"yes": True, "no": False},
    "k" * 768: "the longest key",
    "ü ☃ 😀": {"list": [1, 2, 3], "sparse": {"0": "a", "9": "b"}},
    "deep": {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": 1}}}}}}}},
    "leaf": {".value": "with a priority", ".priority": 5},
    "node": {"child": 1, ".priority": "text"},
}


class WholeFolder:
    """A production server over a data folder, and its administrator. `key` is the key file of its service account."""

    def __init__(self, data, key):
        self.data, self.key = data, key
        self.server = Hearth(*FLAGS, data=data, dev=False)
        self.secret_file = data / "admin-secret"
        self.admin = {"Authorization": f"Bearer {self.secret_file.read_text().strip()}"}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.server.__exit__(*error)

    def ask(self, method, path, body=None, **options):
        answer = self.server.request(method, path, body, headers=self.admin, **options)
        assert answer.status in (200, 204), (method, path, answer.status, answer.text)
        return answer

    def identity(self, method, **body):
        return self.server.request("POST", f"{IDENTITY}:{method}?key=any", {"returnSecureToken": True, **body})

    def run(self, *arguments):
        own = ["--url", self.server.address, "--admin-secret-file", self.secret_file]
        done = hearth(None, *arguments, *own)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    # Filling

    def fill_data(self):
        """Every kind of write: put, update, push, transaction, priorities, server values, removals, large values."""
        self.ask("PUT", "/.json?ns=one", EDGES)
        self.ask("PUT", "/list.json?ns=one", {f"i{n:04}": {"n": n, "deep": {"er": -n}} for n in range(2000)})
        self.ask("PATCH", "/list.json?ns=one", {"i0001/n": "changed", "i0002": None, "new/below": True})
        self.ask("POST", "/pushed.json?ns=one", "a child with a key of the server's")
        self.ask("PUT", "/times.json?ns=one", {"now": {".sv": "timestamp"}, "sum": {".sv": {"increment": 4}}})
        self.ask("PUT", "/pieces.json?ns=one", {f"k{n:05}": "v" * 100 for n in range(10_000)})
        with Wire(self.server.port, ns="one") as client:
            credential = self.admin["Authorization"].split()[1]
            assert client.request("auth", cred=credential)[0]["s"] == "ok"
            for action, body in [
                ("p", {"p": "/wire/put", "d": {"a": 1, "b": 2}}),
                ("m", {"p": "/wire/put", "d": {"a": None, "c": 3}}),
                ("p", {"p": "/wire/put/.priority", "d": 7}),
            ]:
                assert client.request(action, **body)[0]["s"] == "ok", body
        self.ask("PUT", "/two.json?ns=two", "of the second database")

    def fill_settings(self):
        for rules in RULES:
            self.ask("PUT", "/.settings/rules.json?ns=one&author=ann%20lee", raw=rules.encode())
        kept = self.ask("POST", "/.settings/rulesets.json?ns=one", raw=RULES[0].encode()).json["id"]
        self.ask("PUT", "/.settings/ruleset_labels.json?ns=one", {"canary": kept})
        self.ask("PUT", "/.settings/defaultWriteSizeLimit.json?ns=two", "small")
        self.ask("PUT", "/.settings/strictTriggerValidation.json?ns=two", True)

    def fill_accounts(self):
        """People with passwords, claims and phones, one who is disabled; a service account with a key. A refresh token."""
        tokens = {}
        for email, password in PASSWORDS.items():
            made = self.identity("signUp", email=email, password=password)
            assert made.status == 200, made.text
            tokens[email] = made.json
        self.run("users", "claims", "ann@example.com", '{"role": "admin", "n": 1}')
        self.run("users", "create", "--uid", "phone", "--phone", "+15555550100", "--name", "Pia Phone")
        self.run("users", "create", "--uid", "gone", "--email", "gone@example.com", "--disabled")
        self.run("service-account", "create", "robot", "--output", self.key)
        return tokens["ann@example.com"]["refreshToken"]

    def await_checkpoint(self):
        """Commits 36 MiB, which is when a checkpoint is made; the records after it are the tail of the log."""
        for character in "wxyz":
            self.ask("PUT", "/pad.json?ns=two&print=silent", character * 9_000_000)
        deadline = time.monotonic() + 60
        while not any(path.suffix == "" for path in (self.data / "checkpoints").iterdir()):
            assert time.monotonic() < deadline, "no checkpoint was made"
            time.sleep(0.05)
        self.ask("DELETE", "/pad.json?ns=two")

    # What is there

    def state(self):
        """Everything that an administrator sees and that no time changes, as JSON."""
        return {
            **{f"database {name}": self.database(name) for name in ("one", "two")},
            "users": sorted(json.loads(self.run("users", "export", "-"))["users"], key=lambda user: user["localId"]),
            "service accounts": json.loads(self.run("service-account", "list", "--json"))["serviceAccounts"],
        }

    def database(self, name):
        own = f"?ns={name}"
        history = self.ask("GET", f"/.settings/rules_history.json{own}").json
        stored = self.ask("GET", f"/.settings/rulesets.json{own}").json
        return {
            "data": self.ask("GET", f"/.json{own}&format=export").json,
            "rules": self.ask("GET", f"/.settings/rules.json{own}").text,
            # How this server says what is in force has changed.
            "history": {name: value for name, value in history.items() if name not in ("inForce", "notUsed")},
            "versions": [
                self.ask("GET", f"/.settings/rules_history/{version['number']}.json{own}").text
                for version in history["versions"]
            ],
            "rulesets": stored,
            "labels": self.ask("GET", f"/.settings/ruleset_labels.json{own}").json,
            "write size": self.ask("GET", f"/.settings/defaultWriteSizeLimit.json{own}").json,
            "strict": self.ask("GET", f"/.settings/strictTriggerValidation.json{own}").json,
        }

    def refresh(self, token):
        form = {"grant_type": "refresh_token", "refresh_token": token}
        return self.server.request("POST", "/securetoken.googleapis.com/v1/token?key=any", form)

    def service_token(self):
        """The answer to an assertion of the service account, made for the address that the server has now."""
        signed = assertion(self.key, aud=f"{self.server.address}/token")
        form = urllib.parse.urlencode({"grant_type": GRANT, "assertion": signed})
        return self.server.request("POST", "/token", raw=form.encode())
