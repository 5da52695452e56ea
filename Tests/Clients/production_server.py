"""A production server with TLS and service accounts, for tests that are its administrator."""

import base64
import itertools
import json
import ssl
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding

from command_line import hearth
from hearth_server import Answer, Hearth

GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
NUMBER = itertools.count()
RULES = {
    "rules": {
        "open": {".read": "auth != null", ".write": False},
        "users": {"$uid": {".read": "auth.uid === $uid", ".write": "auth.uid === $uid"}},
    }
}


class Production:
    """A production server with TLS, and what is needed to speak to it as its administrator."""

    def __init__(self, folder, *flags):
        self.certificate, key = folder / "cert.pem", folder / "key.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
            + ["-nodes", "-days", "1", "-subj", "/CN=localhost", "-addext"]
            + ["subjectAltName=DNS:localhost,IP:127.0.0.1"]
            + ["-out", self.certificate, "-keyout", key],
            check=True,
            capture_output=True,
        )
        self.folder, self.log = folder, folder / "log"
        self.server = Hearth(
            *["--tls-cert", str(self.certificate), "--tls-key", str(key), "--project", "demo"],
            # So that tests can be on networks of their own.
            *["--trusted-proxy", "127.0.0.1"],
            *flags,
            data=folder / "data",
            dev=False,
            log=self.log,
        )
        self.address = f"https://localhost:{self.server.port}"
        self.secret_file = folder / "data" / "admin-secret"
        self.context = ssl.create_default_context(cafile=self.certificate)

    def run(self, *arguments, **options):
        """A `hearth` command as the administrator."""
        own = ["--url", self.address, "--ca-file", self.certificate]
        own += ["--admin-secret-file", self.secret_file]
        return hearth(None, *arguments, *own, **options)

    def create(self, name, *arguments):
        """A new service account's key file."""
        file = self.folder / f"{name}-{next(NUMBER)}.json"
        done = self.run("service-account", "create", name, "--output", file, *arguments)
        assert done.returncode == 0, done.stderr.decode()
        return file

    def request(self, method, path, body=None, token=None, form=None, headers=None):
        data = urllib.parse.urlencode(form).encode() if form is not None else None
        if body is not None:
            data = json.dumps(body).encode()
        head = {"Authorization": f"Bearer {token}"} if token else {}
        if body is not None:
            head["Content-Type"] = "application/json"
        request = urllib.request.Request(
            self.address + path, data=data, method=method, headers={**head, **(headers or {})}
        )
        try:
            with urllib.request.urlopen(request, timeout=120, context=self.context) as answer:
                return Answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.headers, error.read())

    @property
    def secret(self):
        return self.secret_file.read_text().strip()

    def sign(self, header, claims):
        """A token as the server would sign it, by its own key."""
        text = (self.folder / "data" / "keys" / "signing-keys.json").read_text()
        key = next(key for key in json.loads(text)["keys"] if key["kid"] == header["kid"])["key"]
        parts = ".".join(base64url(json.dumps(part).encode()) for part in [header, claims])
        private = serialization.load_pem_private_key(key.encode(), None)
        return parts + "." + base64url(private.sign(parts.encode(), padding.PKCS1v15(), hashes.SHA256()))

    def put_rules(self):
        answer = self.request("PUT", "/.settings/rules.json", RULES, token=self.secret)
        assert answer.status == 200, answer.text

    def token(self, form, network=None):
        """Asks for an access token; each time from another network, unless one is given."""
        network = network or f"10.0.{next(NUMBER) % 250}.{next(NUMBER) % 250}"
        return self.request("POST", "/token", form=form, headers={"X-Forwarded-For": network})

    def exchange(self, file, **claims):
        """The answer to an assertion."""
        return self.token({"grant_type": GRANT, "assertion": assertion(file, **claims)})

    def access_token(self, file, **claims):
        answer = self.exchange(file, **claims)
        assert answer.status == 200, answer.text
        return answer.json["access_token"]


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def assertion(file, key=None, header=None, **claims):
    """An assertion for a key file; `claims` that are None are left out."""
    account = json.loads(file.read_text())
    now = int(time.time())
    head = {"alg": "RS256", "typ": "JWT", "kid": account["private_key_id"], **(header or {})}
    body = {
        "iss": account["client_email"],
        "sub": account["client_email"],
        "aud": account["token_uri"],
        "iat": now,
        "exp": now + 3600,
        "scope": "https://www.googleapis.com/auth/firebase.database",
        **claims,
    }
    parts = [
        base64url(json.dumps({n: v for n, v in part.items() if v is not None}).encode())
        for part in (head, body)
    ]
    text = ".".join(parts)
    private = key or serialization.load_pem_private_key(account["private_key"].encode(), None)
    return text + "." + base64url(private.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256()))


SCOPES = "https://www.googleapis.com/auth/cloud-platform https://www.googleapis.com/auth/firebase"


def self_signed(file, key=None, **claims):
    """The access token that google-auth signs with a key of another universe than Google's."""
    return assertion(file, key, **{"aud": None, "scope": SCOPES, **claims})
