"""Plays the tables of `Specs/identity`: requests as unmodified client SDKs send them."""

import base64
import json
import time
import urllib.parse

import pytest

import identity_table
from hearth_server import Hearth

KEY = "fake-api-key"

# As the SDKs of these families send them. Source: firebase-js-sdk packages/auth/src/api, firebase-ios-sdk
# FirebaseAuth/Sources/Swift/Backend.
HEADERS = {
    "js": {
        "Content-Type": "application/json",
        "X-Client-Version": "Chrome/JsCore/11.6.0/FirebaseCore-web",
        "X-Firebase-gmpid": "1:1:web:1",
        "Origin": "http://localhost:5000",
        "Referer": "http://localhost:5000/",
    },
    "ios": {
        "Content-Type": "application/json",
        "X-Client-Version": "iOS/FirebaseSDK/11.12.0/FirebaseCore-iOS",
        "X-Ios-Bundle-Identifier": "com.example.app",
        "X-Firebase-GMPID": "1:1:ios:1",
        "User-Agent": "FirebaseAuth.iOS/11.12.0 com.example.app/1.0 iPhone/17.0 hw/sim",
        "Accept-Language": "en",
    },
}
METHODS = {
    "js": "/identitytoolkit.googleapis.com/v1/accounts:{}",
    "ios": "/www.googleapis.com/identitytoolkit/v3/relyingparty/{}",
}


class Player:
    """One client against one server."""

    def __init__(self, server, family):
        self.server, self.family, self.saved = server, family, {}

    def value(self, name):
        kind, _, uid = name.partition(":")
        return custom_token(uid) if kind == "custom" else self.saved[name]

    def filled(self, text):
        """The text with its names replaced, as they stand within JSON texts."""
        for name in sorted(set(identity_table.names(text)), key=len, reverse=True):
            text = text.replace(f"${name}", self.value(name))
        return text

    def send(self, step):
        verb, path, body = "POST", None, None
        headers = dict(HEADERS[self.family])
        text = self.filled(step.text)
        if step.word == "call":
            name, _, fields = text.partition(" ")
            path = METHODS[self.family].format(name)
            # The iOS SDK writes its bodies with line breaks in debug builds.
            body = json.dumps(json.loads(fields or "{}"), indent=2 if self.family == "ios" else None)
        elif step.word == "get":
            verb, path = "GET", f"/identitytoolkit.googleapis.com/{text}"
        elif step.word == "refresh":
            path = "/securetoken.googleapis.com/v1/token"
            if self.family == "js":
                headers["Content-Type"] = "application/x-www-form-urlencoded"
                fields = {"grant_type": "refresh_token", "refresh_token": text}
                body = urllib.parse.urlencode(fields)
            else:
                body = json.dumps({"grantType": "refresh_token", "refreshToken": text}, indent=2)
        elif step.word == "raw":
            verb, path, *rest = text.split(" ", 2)
            body = rest[0] if rest else None
            return self.request(verb, path, {"Content-Type": "application/json", **step.headers}, body)
        path += ("&" if "?" in path else "?") + f"key={KEY}"
        return self.request(verb, path, {**headers, **step.headers}, body)

    def request(self, verb, path, headers, body):
        raw = None if body is None else body.encode()
        return self.server.request(verb, path, raw=raw, headers=headers)

    def play(self, step):
        answer = self.send(step)
        expected = dict(step.expected)
        default = 400 if "error" in expected else 200
        status = int(expected.get("status", default))
        assert answer.status == status, (step.text, answer.status, answer.text)
        if not answer.body:
            return
        body = answer.json
        if "error" in expected:
            error = body["error"]
            error.pop("status", None)
            form = identity_table.error_form(self.filled(expected["error"]), status)
            assert identity_table.matches(form, error), (step.text, error)
        for word, text in step.expected:
            if word == "reply":
                form = json.loads(self.filled(text))
                assert identity_table.matches(form, body), (step.text, body)
            elif word == "claims":
                claims = claims_of(body.get("idToken") or body["id_token"])
                for name, value in json.loads(self.filled(text)).items():
                    assert identity_table.matches(value, claims.get(name)), (name, claims)
            elif word == "save":
                name, path = text.split()
                self.saved[name] = identity_table.member(body, path)


def custom_token(uid):
    """As an Admin SDK makes it for an emulator."""
    header = {"alg": "none", "typ": "JWT"}
    audience = "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"
    now = int(time.time())
    claims = {
        "iss": "firebase-auth-emulator@example.com",
        "sub": "firebase-auth-emulator@example.com",
        "aud": audience,
        "uid": uid,
        "iat": now,
        "exp": now + 3600,
        "claims": {"role": "tester", "none": None, "list": [], "nested": {"a": {}}},
    }
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in (header, claims)]
    return ".".join(parts) + "."


def claims_of(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


@pytest.mark.parametrize("group", identity_table.all_groups(), ids=repr)
def test_flows(group, tmp_path):
    flags = group.flags.split()
    dev = "production" not in flags
    flags = [flag for flag in flags if flag != "production"]
    # Hashes that take a few milliseconds.
    flags += ["--password-memory", "8MiB", "--password-passes", "1"]
    with Hearth(*flags, data=None if dev else tmp_path / "data", dev=dev) as server:
        for flow in group.flows:
            player = Player(server, group.family)
            for number, step in enumerate(flow.steps, 1):
                try:
                    player.play(step)
                except AssertionError as error:
                    raise AssertionError(f"{group.name}: {flow.title} (step {number}): {error}") from None


def test_each_method_of_clients_is_played():
    played = {step.text.split(" ")[0] for group in identity_table.all_groups() for flow in group.flows for step in flow.steps}
    for name in (
        "signUp", "signInWithPassword", "signInWithCustomToken", "lookup", "update", "delete", "createAuthUri",
        "signupNewUser", "verifyPassword", "verifyCustomToken", "getAccountInfo", "setAccountInfo", "deleteAccount",
    ):
        assert name in played, name
