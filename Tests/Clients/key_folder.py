"""The folder of a server's own keys, written by hand, so that a test has every private key and any age."""

import hashlib
import json
import time

from cryptography.hazmat.primitives import serialization

from signing import RSAKey, base64url

DAY = 86_400


class OwnKey(RSAKey):
    """A key that a server signs with, named as it names its keys (RFC 7638)."""

    def __init__(self, signs_from):
        super().__init__("")
        jwk = self.jwk
        text = json.dumps(
            {name: jwk[name] for name in ("e", "kty", "n")}, separators=(",", ":"), sort_keys=True
        )
        self.id = base64url(hashlib.sha256(text.encode()).digest())
        self.signs_from = int(signs_from)

    def entry(self, private=True):
        if private:
            pem = self.private.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        else:
            pem = self.public_pem
        return {
            "kid": self.id,
            "created": self.signs_from,
            "signsFrom": self.signs_from,
            "key": pem.decode(),
        }

    @property
    def public_pem(self):
        return self.private.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )


class KeyFolder:
    """Four keys: one that verifies no more, one that still does, the one that signs, and the next one."""

    def __init__(self, data):
        now = time.time()
        self.path = data / "keys"
        self.retired = OwnKey(now - 60 * DAY)
        self.superseded = OwnKey(now - 40 * DAY)
        self.current = OwnKey(now - 5 * DAY)
        self.next = OwnKey(now + 1800)
        data.mkdir(exist_ok=True)
        self.path.mkdir(mode=0o700)
        self.file = self.path / "signing-keys.json"
        self.write([key.entry() for key in self.all])

    @property
    def all(self):
        return [self.retired, self.superseded, self.current, self.next]

    def write(self, entries):
        self.file.touch(mode=0o600)
        self.file.write_text(json.dumps({"version": 1, "keys": entries}))

    def read(self):
        return json.loads(self.file.read_text())["keys"]
