"""Keys and tokens as an identity service of one's own would make them."""

import base64
import json
import time

from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils

ISSUER = "https://id.example"
AUDIENCE = "demo"


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value):
    return base64url(value.to_bytes((value.bit_length() + 7) // 8, "big"))


class RSAKey:
    algorithm = "RS256"

    def __init__(self, key_id):
        self.id = key_id
        self.private = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @property
    def jwk(self):
        public = self.private.public_key().public_numbers()
        return {
            "kty": "RSA",
            "alg": "RS256",
            "use": "sig",
            "kid": self.id,
            "n": number(public.n),
            "e": number(public.e),
        }

    def sign(self, text):
        return self.private.sign(text, padding.PKCS1v15(), hashes.SHA256())


class ECKey:
    algorithm = "ES256"

    def __init__(self, key_id):
        self.id = key_id
        self.private = ec.generate_private_key(ec.SECP256R1())

    @property
    def jwk(self):
        public = self.private.public_key().public_numbers()
        return {
            "kty": "EC",
            "crv": "P-256",
            "alg": "ES256",
            "use": "sig",
            "kid": self.id,
            "x": base64url(public.x.to_bytes(32, "big")),
            "y": base64url(public.y.to_bytes(32, "big")),
        }

    def sign(self, text):
        signature = self.private.sign(text, ec.ECDSA(hashes.SHA256()))
        r, s = utils.decode_dss_signature(signature)
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")


class HMACKey:
    algorithm = "HS256"

    def __init__(self, secret, key_id=None):
        self.id = key_id
        self.secret = secret

    def sign(self, text):
        mac = hmac.HMAC(self.secret, hashes.SHA256())
        mac.update(text)
        return mac.finalize()


def claims(uid, lifetime=3600, **others):
    now = int(time.time())
    made = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": uid,
        "iat": now - 5,
        "auth_time": now - 5,
        "exp": now + lifetime,
    }
    made.update(others)
    return {name: value for name, value in made.items() if value is not None}


def token(key, payload, **header):
    head = {"alg": key.algorithm, "typ": "JWT", "kid": key.id, **header}
    head = {name: value for name, value in head.items() if value is not None}
    text = ".".join(base64url(json.dumps(part).encode()) for part in (head, payload))
    return f"{text}.{base64url(key.sign(text.encode()))}"


def unsigned(payload):
    """An unsigned token; a server in development mode believes it."""
    return ".".join(base64url(json.dumps(part).encode()) for part in ({"alg": "none"}, payload)) + "."


def jwks(*keys):
    return json.dumps({"keys": [key.jwk for key in keys]})
