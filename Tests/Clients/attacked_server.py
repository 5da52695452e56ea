"""A production server with people, an operator and a webhook, for tests that attack it."""

import concurrent.futures
import itertools
import json
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding

from hearth_server import ROOT, Hearth
from signing import RSAKey, token
from webhook_receiver import SECRET

ISSUER, PROJECT = "https://securetoken.google.com/hearth", "hearth"
CUSTOM_AUDIENCE = (
    "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"
)
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
ADMIN = f"/v1/projects/{PROJECT}/accounts"
PASSWORD = "correct horse battery"
WRONG, TOO_MANY = "INVALID_LOGIN_CREDENTIALS", "TOO_MANY_ATTEMPTS_TRY_LATER"
METHODS = ["password", "custom", "anonymous", "email-link", "phone"]
CHEAP = ["--password-memory", "8MiB", "--password-passes", "1"]
NUMBER = itertools.count(1)


class PEMKey(RSAKey):
    """A private key that was stolen."""

    def __init__(self, key_id, pem):
        self.id = key_id
        self.private = serialization.load_pem_private_key(pem.encode(), password=None)

    def sign(self, text):
        return self.private.sign(text, padding.PKCS1v15(), hashes.SHA256())


class Target:
    """The server, and what its people and its operator do with it."""

    def __init__(self, folder, receiver, *flags):
        self.receiver = receiver
        self.data = folder / "data"
        secret = folder / "webhook-secret"
        secret.touch(mode=0o600)
        secret.write_text(SECRET)
        self.server = Hearth(
            *["--rules", str(ROOT / "rules" / "chat.json"), "--trusted-proxy", "127.0.0.1", *CHEAP],
            *[flag for name in METHODS for flag in ("--sign-in", name)],
            *["--accounts-webhook", receiver.url, "--accounts-webhook-secret-file", str(secret)],
            *["--public-url", "https://db.example.com", *flags],
            dev=False, data=self.data, log=folder / "log",
        )
        self.port = self.server.port
        self.secret = (self.data / "admin-secret").read_text().strip()

    def post(self, path, body, network=None, **headers):
        headers = {"Content-Type": "application/json", **headers}
        headers["X-Forwarded-For"] = network or new_network()
        return self.server.request("POST", path, body, headers=headers)

    def call(self, method, network=None, **body):
        return self.post(f"/v1/accounts:{method}?key=k", body, network)

    def administer(self, method, **body):
        answer = self.post(ADMIN + method, body, Authorization=f"Bearer {self.secret}")
        assert answer.status == 200, answer.text
        return answer.json

    def sign_up(self, network=None, **body):
        """A new user: the tokens, with `email`."""
        body = {"email": f"person{next(NUMBER)}@example.com", "password": PASSWORD, **body}
        answer = self.call("signUp", network, **body)
        assert answer.status == 200, answer.text
        return {**answer.json, "email": body["email"]}

    def sign_in(self, email, password, network=None):
        return self.call("signInWithPassword", network, email=email, password=password)

    def refresh(self, refresh_token, network=None):
        body = {"grant_type": "refresh_token", "refresh_token": refresh_token}
        return self.post("/v1/token?key=k", body, network)

    def message(self, kind, **body):
        """The code that the webhook receives after a request for it."""
        if kind == "PHONE":
            answer = self.call("sendVerificationCode", **body)
        else:
            answer = self.call("sendOobCode", requestType=kind, **body)
        assert answer.status == 200, answer.text
        while True:
            message = self.receiver.next()
            wanted = body.get("phoneNumber") or body["email"]
            if message["type"] == kind and wanted in (message.get("phoneNumber"), message.get("email")):
                return {**answer.json, **message}

    def service_account(self, name):
        answer = self.post(
            "/.accounts/service-accounts.json", {"name": name}, Authorization=f"Bearer {self.secret}"
        )
        assert answer.status == 200, answer.text
        return answer.json

    def old_token(self, person):
        """A token of theirs whose sign-in was an hour ago, as a refresh gives it."""
        kept = json.loads((self.data / "keys" / "signing-keys.json").read_text())["keys"][-1]
        now = int(time.time()) + 1
        claims = {"iss": ISSUER, "aud": PROJECT, "sub": person["localId"], "user_id": person["localId"]}
        times = {"iat": now, "auth_time": now - 3600, "exp": now + 3600}
        return token(PEMKey(kept["kid"], kept["key"]), {**claims, **times})


def new_network():
    number = next(NUMBER)
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def code_of(answer):
    """The error's code without its detail; `OK` for none."""
    return "OK" if answer.status == 200 else answer.json["error"]["message"].split(" : ")[0]


def at_once(attempts):
    """The codes of the answers to attempts that begin together."""
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        return sorted(code_of(answer) for answer in pool.map(lambda attempt: attempt(), attempts))


def assertion(key_file, **claims):
    now = int(time.time())
    address = key_file["client_email"]
    made = {"iss": address, "sub": address, "aud": key_file["token_uri"], "iat": now, "exp": now + 3600}
    return token(PEMKey(key_file["private_key_id"], key_file["private_key"]), {**made, **claims})
