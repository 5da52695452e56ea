"""Secrets are planted everywhere a client can put one: none may stand in a log, a metric or a list of requests."""

import base64
import contextlib
import json
import re
import secrets
import signal
import time
import urllib.parse

import jwt
import pytest
from websockets.sync.client import connect

from hearth_server import Hearth
from raw_http import Raw
from signing import unsigned
from webhook_receiver import SECRET, Receiver
from wire_client import Wire

RULES = json.dumps(
    {"rules": {"mine": {".read": "auth != null && auth.token.email != null", ".write": "auth != null"}}}
)


class Planted:
    """Secrets that no log may have: texts by what they are."""

    def __init__(self):
        self.texts = {}

    def new(self, name, form="{}"):
        """A secret of our own making."""
        text = form.format("m" + secrets.token_hex(12))
        self.texts[name] = text
        return text

    def token(self, name, token):
        """One that the server made: its claims and its signature say as much as the whole."""
        assert token, name
        for number, part in enumerate(token.split(".")):
            # Headers of tokens are alike.
            if len(part) > 20 and (number > 0 or "." not in token):
                self.texts[f"{name} part {number}"] = part
        return token

    def found_in(self, text, but=()):
        """Names of the secrets in a text, as they are or percent-encoded."""
        plain = urllib.parse.unquote(text)
        return sorted(
            name
            for name, secret in self.texts.items()
            if not name.startswith(tuple(but) or "\0") and (secret in text or secret in plain)
        )


class Attack:
    """One server in one mode, and everything that is tried with it."""

    def __init__(self, server, planted, data, is_dev, receiver):
        self.server = server
        self.planted = planted
        self.is_dev = is_dev
        self.receiver = receiver
        self.admin_secret = (data / "admin-secret").read_text().strip()
        planted.texts["admin secret"] = self.admin_secret
        self.admin = {"Authorization": f"Bearer {self.admin_secret}"}
        self.key = planted.new("api key")
        self.email = planted.new("email", "{}@example.com")
        self.password = planted.new("password")
        self.statuses = set()

    def ask(self, method, path, body=None, headers=None, raw=None):
        answer = self.server.request(method, path, body, headers=headers, raw=raw)
        self.statuses.add(answer.status)
        return answer

    def identity(self, method, body, raw=None, headers=None, prefix="/v1/accounts:"):
        return self.ask("POST", f"{prefix}{method}?key={self.key}", body, headers, raw)

    def run(self):
        self.sign_up()
        self.use_tokens()
        self.refresh()
        self.codes()
        self.administer()
        self.service_account()
        self.shapes()
        self.sockets()

    def sign_up(self):
        account = {"email": self.email, "password": self.password, "returnSecureToken": True}
        made = self.identity("signUp", account)
        assert made.status == 200, made.text
        self.uid = made.json["localId"]
        self.id_token = self.planted.token("id token", made.json["idToken"])
        self.refresh_token = self.planted.token("refresh token", made.json["refreshToken"])
        assert self.identity("signUp", account).status == 400
        wrong = {**account, "password": self.planted.new("wrong password")}
        assert self.identity("signInWithPassword", wrong).status == 400
        stranger = {**account, "email": self.planted.new("unknown email", "{}@example.com")}
        assert self.identity("signInWithPassword", stranger).status == 400
        assert self.identity("signInWithPassword", account).status == 200
        assert self.identity("signUp", {"email": self.planted.new("bad email"), "password": "x"}).status == 400
        # Bodies that cannot be read.
        raw = b'{"password": "%s", ' % self.planted.new("password in broken body").encode()
        assert self.identity("signInWithPassword", None, raw=raw).status == 400
        raw = b'{"email": 7, "password": ["%s"]}' % self.planted.new("password of wrong kind").encode()
        assert self.identity("signInWithPassword", None, raw=raw).status == 400
        # The secrets where they do not belong: in the address.
        query = urllib.parse.urlencode({"password": self.password, "email": self.email})
        self.ask("GET", f"/v1/accounts:signInWithPassword?key={self.key}&{query}")
        self.ask("POST", f"/v1/accounts:nosuch?key={self.key}&{query}", {})
        self.ask("POST", f"/v1/projects/{self.planted.new('project')}/accounts:lookup?{query}", {})
        self.identity("lookup", {"idToken": self.id_token})
        self.identity("lookup", {"idToken": self.planted.new("bad id token")})
        self.identity("update", {"idToken": self.id_token, "displayName": "x" * 300_000})
        self.identity("signInWithCustomToken", {"token": self.planted.new("bad custom token")})
        custom = unsigned({"uid": "custom", "claims": {"claim": self.planted.new("custom claim")}})
        self.identity("signInWithCustomToken", {"token": self.planted.token("custom token", custom)})
        self.identity("signInWithPhoneNumber", {"sessionInfo": self.planted.new("session info"), "code": "1"})
        self.identity("createAuthUri", {"identifier": self.email, "continueUri": "http://localhost"})
        self.identity("signInWithIdp", {"postBody": f"id_token={self.planted.new('idp token')}"})

    def use_tokens(self):
        bad = self.id_token[:-4] + "AAAA" if not self.id_token.endswith(".") else "x" + self.id_token
        for kind, token in [("good", self.id_token), ("bad", self.planted.token("bad token", bad))]:
            for path, headers in [
                (f"/mine/a.json?auth={token}", None),
                (f"/mine/a.json?access_token={token}", None),
                ("/mine/a.json", {"Authorization": f"Bearer {token}"}),
                ("/mine/a.json", {"Authorization": f"Firebase {token}"}),
            ]:
                status = self.ask("GET", path, headers=headers).status
                assert kind == "bad" or status in (200, 400, 401), (path.split("=")[0], status)
            # Refused by the rules, with a token that is good.
            self.ask("PUT", f"/other/b.json?auth={token}", {"x": 1})
            self.ask("GET", f"/.metrics?auth={token}")
            self.ask("GET", f"/mine.json?auth={token}&orderBy=%22x%22&limitToFirst=x")
        for name in ("auth", "access_token", "auth_variable_override"):
            self.ask("GET", f"/mine.json?{name}={self.planted.new(name + ' parameter')}")
        for scheme in ("Bearer", "Basic", "Nonsense"):
            header = {"Authorization": f"{scheme} {self.planted.new(scheme + ' credential')}"}
            self.ask("GET", "/mine.json", headers=header)
            self.ask("GET", "/.settings/rules.json", headers=header)
            self.ask("POST", "/v1/projects/demo/accounts:lookup", {}, headers=header)
        self.ask("GET", f"/mine.json?callback={self.planted.new('callback')}")
        self.ask("GET", f"/mine.json?callback={self.planted.new('bad callback', '{}(')}&auth={self.id_token}")

    def refresh(self):
        path = f"/securetoken.googleapis.com/v1/token?key={self.key}"
        form = {"Content-Type": "application/x-www-form-urlencoded"}

        def ask(token):
            raw = urllib.parse.urlencode({"grant_type": "refresh_token", "refresh_token": token}).encode()
            return self.ask("POST", path, raw=raw, headers=form)

        answer = ask(self.refresh_token)
        assert answer.status == 200, answer.text
        self.planted.token("refreshed id token", answer.json["id_token"])
        self.planted.token("next refresh token", answer.json["refresh_token"])
        assert ask(self.planted.new("bad refresh token")).status == 400
        assert ask(self.refresh_token[:-3] + "xyz").status == 400
        self.ask("POST", path, {"grantType": "refresh_token", "refreshToken": self.planted.new("json refresh")})
        self.ask("GET", f"{path}&refresh_token={self.refresh_token}")

    def codes(self):
        asked = self.identity("sendOobCode", {"requestType": "PASSWORD_RESET", "email": self.email})
        assert asked.status == 200, asked.text
        code = self.code()
        # Tried twice, right once.
        assert self.identity("resetPassword", {"oobCode": self.planted.new("bad code")}).status == 400
        self.ask("GET", f"/emulator/action?mode=resetPassword&oobCode={self.planted.new('bad code in link')}&apiKey=x")
        changed = {"oobCode": code, "newPassword": self.planted.new("new password")}
        assert self.identity("resetPassword", changed).status == 200
        assert self.identity("resetPassword", changed).status == 400
        unknown = {"requestType": "PASSWORD_RESET", "email": self.planted.new("nobody", "{}@example.com")}
        self.identity("sendOobCode", unknown)
        # The webhook is broken from now on: what it should have received stays secret.
        if self.receiver:
            self.receiver.statuses += [500, 500, 500]
            asked = self.identity("sendOobCode", {"requestType": "PASSWORD_RESET", "email": self.email})
            assert asked.status == 200, asked.text
            self.server.await_log("the webhook does not take a code")
            for _, body in self.receiver.requests:
                delivered = json.loads(body)
                self.planted.texts[f"code {len(self.planted.texts)}"] = delivered["code"]

    def code(self):
        """The code that was sent, as its receiver learns it."""
        if self.receiver:
            delivered = self.receiver.next()
        else:
            answer = self.ask("GET", "/emulator/v1/projects/demo/oobCodes")
            delivered = answer.json["oobCodes"][-1]
            delivered = {"code": delivered["oobCode"], "link": delivered["oobLink"]}
        return self.planted.token("emulator code" if self.is_dev else "code", delivered["code"])

    def administer(self):
        users = "/v1/projects/demo/accounts" if self.is_dev else "/v1/projects/hearth/accounts"
        made = {"email": self.planted.new("second email", "{}@example.com")}
        made["password"] = self.planted.new("second password")
        assert self.ask("POST", users, made, headers=self.admin).status == 200
        assert self.ask("POST", users, made, headers=self.admin).status == 400
        self.ask("POST", f"{users}:lookup", {"email": [self.email]}, headers=self.admin)
        found = self.ask("GET", f"{users}:batchGet?maxResults=10", headers=self.admin).json["users"]
        for number, user in enumerate(found):
            if "passwordHash" in user:
                self.planted.texts[f"hash {number}"] = user["passwordHash"]
        for credential in (self.planted.new("wrong admin secret"), self.admin_secret + "x"):
            header = {"Authorization": f"Bearer {credential}"}
            assert self.ask("POST", users, made, headers=header).status in (401, 403)
            self.ask("GET", f"/.settings/rules.json?auth={credential}")
        session = {"idToken": self.id_token, "validDuration": "3600"}
        project = users.rsplit("/", 1)[0]
        cookie = self.ask("POST", f"{project}:createSessionCookie", session, headers=self.admin)
        if cookie.status == 200:
            self.planted.token("session cookie", cookie.json["sessionCookie"])
        self.ask("PUT", "/.settings/rules.json", raw=RULES.encode(), headers=self.admin)
        bad = '{"rules": {".read": "%s"}}' % self.planted.new("secret in rules")
        self.ask("PUT", "/.settings/rules.json", raw=bad.encode(), headers=self.admin)
        self.ask("GET", f"/mine.json?auth={self.admin_secret}")
        change = {"localId": self.uid, "password": self.planted.new("password by admin")}
        assert self.ask("POST", f"{users}:update", change, headers=self.admin).status == 200

    def service_account(self):
        made = self.ask("POST", "/.accounts/service-accounts.json", {"name": "worker"}, headers=self.admin)
        assert made.status == 200, made.text
        file = made.json
        key = file["private_key"]
        for number, line in enumerate(key.split("\n")[1:-2]):
            self.planted.texts[f"private key line {number}"] = line
        now = int(time.time())
        claims = {"iss": file["client_email"], "aud": file["token_uri"], "iat": now, "exp": now + 3600}
        claims["scope"] = self.planted.new("scope")
        assertion = jwt.encode(claims, key, algorithm="RS256", headers={"kid": file["private_key_id"]})
        self.planted.token("assertion", assertion)
        form = {"Content-Type": "application/x-www-form-urlencoded"}

        def ask(assertion):
            grant = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion}
            return self.ask("POST", "/token", raw=urllib.parse.urlencode(grant).encode(), headers=form)

        answer = ask(assertion)
        assert answer.status == 200, answer.text
        access = self.planted.token("access token", answer.json["access_token"])
        assert ask(assertion[:-6] + "AAAAAA").status == 400
        assert ask(self.planted.new("bad assertion")).status == 400
        self.ask("GET", f"/token?assertion={assertion}")
        header = {"Authorization": f"Bearer {access}"}
        assert self.ask("GET", "/mine.json", headers=header).status == 200
        assert self.ask("GET", "/.accounts/service-accounts.json", headers=header).status == 200
        self.ask("DELETE", "/.accounts/service-accounts/worker.json", headers=self.admin)
        assert self.ask("GET", "/mine.json", headers=header).status in (401, 403)

    def shapes(self):
        """Requests that are no requests, with a secret in them."""
        new = self.planted.new
        for text in [
            f"GET /mine.json?auth={new('token in bad line')} HTTP/1.1 x\r\n\r\n",
            f"BREW /mine.json?auth={new('token of odd method')} HTTP/1.1\r\nHost: localhost\r\n\r\n",
            f"GET /mine.json HTTP/1.1\r\nHost: localhost\r\nAuthorization : Bearer {new('bad header')}\r\n\r\n",
            f"GET /mine.json HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer {new('bad host')}\r\n\r\n",
            f"GET /mine.json?auth={new('long')}{'x' * 40_000} HTTP/1.1\r\nHost: localhost\r\n\r\n",
            f"POST /v1/accounts:signUp?key={new('cut key')} HTTP/1.1\r\nHost: localhost\r\n"
            f'Content-Length: 900\r\n\r\n{{"password": "{new("cut body")}',
            f"GET /.ws?v=5&auth={new('no upgrade')} HTTP/1.1\r\nHost: localhost\r\n\r\n",
            f"GET /.lp?start=t&ser=1&cb=1&v=5&auth={new('long poll')} HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ]:
            with contextlib.suppress(ConnectionError), Raw(self.server.port) as raw:
                raw.send(text.encode()).end()
                while raw._fill():
                    pass

    def sockets(self):
        new = self.planted.new
        with Wire(self.server.port, ns="default") as wire:
            assert wire.request("auth", cred=new("token on a socket"))[0]["s"] != "ok"
            wire.request("gauth", cred=new("old token on a socket"))
            reply, _ = wire.request("auth", cred=self.fresh_token())
            assert reply["s"] == "ok", reply
            wire.request("q", p="/other", h="")
            wire.request("p", p="/other", d={"secret": new("value that is refused")})
            wire.request("s", c={"sdk.js.1-0-0": 1, new("statistics"): 1})
            wire.request(new("unknown action"))
            # Ends the connection.
            wire.send_text('{"t":"d","d":{"a":"auth","b":{"cred":"%s"' % new("token in broken message"))
            with contextlib.suppress(Exception):
                while True:
                    wire.receive()
        url = f"ws://127.0.0.1:{self.server.port}/.events?ns=default&auth={new('token of events')}"
        with contextlib.suppress(Exception), connect(url, open_timeout=120) as events:
            events.send(json.dumps({"id": 1, "op": "auth", "token": new("token in a request")}))
            events.send('{"id": 2, "op": "auth", "token": "%s' % new("token in a broken request"))
            while True:
                events.recv(timeout=5)

    def fresh_token(self):
        account = {"email": self.planted.new("third email", "{}@example.com")}
        account |= {"password": self.planted.new("third password"), "returnSecureToken": True}
        return self.planted.token("third id token", self.identity("signUp", account).json["idToken"])


# What a developer's emulator is there for: links and codes that would otherwise be sent to people, with the address
# they are for (`Reset the password of ... by this link: ...`).
EMULATOR_SAYS = ("emulator code", "email", "api key")


@pytest.mark.parametrize("log_format", ["text", "json"])
@pytest.mark.parametrize("mode", ["production", "development"])
def test_no_secret_is_in_a_log_a_metric_or_a_list_of_requests(mode, log_format, tmp_path):
    is_dev = mode == "development"
    planted = Planted()
    (tmp_path / "rules.json").write_text(RULES)
    (tmp_path / "hook-secret").write_text(SECRET)
    (tmp_path / "hook-secret").chmod(0o600)
    flags = ["--rules", str(tmp_path / "rules.json"), "--log-level", "trace", "--log-format", log_format]
    flags += ["--inspect", "all", "--password-memory", "8MiB", "--sign-in", "password", "--sign-in", "custom"]
    with contextlib.ExitStack() as stack:
        receiver = None
        if not is_dev:
            receiver = stack.enter_context(Receiver())
            hook = f"{receiver.url}&token={planted.new('secret of the webhook address')}"
            flags += ["--accounts-webhook", hook, "--public-url", "http://localhost"]
            flags += ["--accounts-webhook-secret-file", str(tmp_path / "hook-secret")]
        planted.texts["webhook secret"] = SECRET
        server = Hearth(*flags, data=tmp_path / "data", log=tmp_path / "log", dev=is_dev)
        stack.enter_context(server)
        attack = Attack(server, planted, tmp_path / "data", is_dev, receiver)
        attack.run()
        # What was tried did come to the places that are looked at.
        assert attack.statuses >= {200, 400, 401, 404}
        server.process.send_signal(signal.SIGHUP)
        server.await_log("rules read again")
        metrics = server.get("/.metrics", headers=attack.admin)
        assert metrics.status == 200
        assert planted.found_in(metrics.text) == []
        for accept in ("application/json", "text/plain"):
            headers = {**attack.admin, "Accept": accept}
            requests = server.get("/.inspect/requests", headers=headers)
            assert requests.status == 200 and "mine" in requests.text
            # Rules decide over the address of who asks: administrators see what they saw.
            assert planted.found_in(requests.text, but=["email", "third email"]) == []
        # The lines that the server keeps for administrators, and its settings, are no place for them either.
        kept = server.get("/.inspect/log.json?limit=2000", headers=attack.admin)
        assert kept.status == 200 and "rules read again" in kept.text
        assert planted.found_in(kept.text, but=EMULATOR_SAYS if is_dev else ()) == []
        for name in ("settings", "state", "connections", "database_figures"):
            shown = server.get(f"/.inspect/{name}.json", headers=attack.admin)
            assert shown.status == 200 and planted.found_in(shown.text) == [], name
        assert server.stop() == 0
        log = server.log_text
    assert len(planted.texts) > 60
    assert planted.found_in(log, but=EMULATOR_SAYS if is_dev else ()) == []
    # Nor is there anything that looks like one and was not planted.
    assert not re.search(r"eyJ[A-Za-z0-9_-]{10,}\.", log)
    assert "BEGIN" not in log
    for secret in kept_keys(tmp_path / "data" / "keys"):
        assert secret not in log and secret not in metrics.text


def kept_keys(folder):
    """What the key files of a data folder keep secret, line by line; names of keys are for everybody."""
    found = [(folder / "refresh-key").read_text().strip()]
    for key in json.loads((folder / "signing-keys.json").read_text())["keys"]:
        found += key["key"].split("\n")[1:-2]
    return found


def test_the_search_finds_what_is_there():
    planted = Planted()
    planted.new("plain")
    planted.new("encoded", "{}/@")
    token = planted.token("token", "aGVhZGVyaGVhZGVyaGVhZGVy.Y2xhaW1zY2xhaW1zY2xhaW1z.c2lnbmF0dXJlc2lnbmF0dXJl")
    assert planted.found_in("nothing") == []
    assert planted.found_in(f"a {planted.texts['plain']} b") == ["plain"]
    assert planted.found_in(urllib.parse.quote(planted.texts["encoded"], safe="")) == ["encoded"]
    assert planted.found_in(token) == ["token part 1", "token part 2"]
    assert planted.found_in(token.split(".")[2], but=["token"]) == []
    assert base64.urlsafe_b64decode(token.split(".")[0]) == b"headerheaderheader"
