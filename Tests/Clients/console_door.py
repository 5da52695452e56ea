"""The door of the console, by raw requests: signing in, and what the cookie of a session is worth."""

import json
import re

from websockets.exceptions import InvalidStatus

from secure_socket import SecureSocket

SESSION = "/.console/session.json"
COOKIE = "__Host-hearth-console"
KEY = "?key=any"


class Visitor:
    """A browser at the console of a production server, as far as its requests tell; `cookie` is its session."""

    def __init__(self, production, network="198.51.100.1"):
        self.production, self.cookie = production, None
        self.origin = production.address
        self.network = network

    def head(self, **more):
        head = {"Origin": self.origin, "Sec-Fetch-Site": "same-origin", "X-Forwarded-For": self.network, "X-Forwarded-Proto": "https"}
        if self.cookie:
            head["Cookie"] = f"{COOKIE}={self.cookie}"
        return {name: value for name, value in {**head, **more}.items() if value is not None}

    def request(self, method, path, body=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.production.request(method, path, body, headers=self.head(**headers))

    def sign_in(self, **proof):
        answer = self.request("POST", SESSION, proof)
        if answer.status == 200:
            self.cookie = re.match(rf"{COOKIE}=([\w-]{{43}});", answer.headers["Set-Cookie"])[1]
        return answer

    def status(self, method, path, body=None, **headers):
        return self.request(method, path, body, **headers).status

    def socket(self, path="/.events?ns=default", **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        head = self.head(**headers)
        origin = head.pop("Origin", None)
        url = self.production.address.replace("https", "wss") + path
        return SecureSocket(url, self.production.context, origin=origin, additional_headers=head)

    def asks(self, socket, request):
        """The reply to a request of the plain event protocol; events before it are passed over."""
        socket.send(json.dumps({**request, "id": 1}))
        while (message := json.loads(socket.recv())).get("id") != 1:
            pass
        return message


def viewer_of(production, email="vera@example.com", role="viewer"):
    """An account with a role in the console; gives its uid and an ID token."""
    made = production.request(
        "POST", f"/v1/accounts:signUp{KEY}", {"email": email, "password": "secret-word", "returnSecureToken": True}
    ).json
    uid = made["localId"]
    if role:
        set_role(production, uid, role)
    return uid, id_token(production, email)


def set_role(production, uid, role):
    claims = json.dumps({"hearth": role} if role else {})
    answer = production.request(
        "POST", "/v1/projects/demo/accounts:update", {"localId": uid, "customAttributes": claims}, token=production.secret
    )
    assert answer.status == 200, answer.text


def id_token(production, email):
    return production.request(
        "POST", f"/v1/accounts:signInWithPassword{KEY}", {"email": email, "password": "secret-word", "returnSecureToken": True}
    ).json["idToken"]


def refused_upgrade(visitor, path="/.events?ns=default", **headers):
    """The status by which an upgrade is refused; None when it is not."""
    try:
        with visitor.socket(path, **headers):
            return None
    except InvalidStatus as error:
        return error.response.status_code
