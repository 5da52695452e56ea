"""Requests of the SDKs of Firebase for files, as they send them."""

import base64
import json
import urllib.parse

BUCKET = "demo.appspot.com"
MIB = 1 << 20
UNIT = 262_144


def token(uid, **claims):
    """An unsigned ID token, which development takes."""
    parts = [{"alg": "none", "typ": "JWT"}, {"sub": uid, "user_id": uid, "aud": "demo-hearth", **claims}]
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts) + "."


def signed_in(uid, **claims):
    return {"Authorization": f"Firebase {token(uid, **claims)}"}


def quote(name):
    return urllib.parse.quote(name, safe="")


def place(name, bucket=BUCKET):
    return f"/v0/b/{bucket}/o/{quote(name)}"


def related(metadata, data, boundary="91", type="text/plain"):
    """The body of an upload in one request, as JS and Python make it."""
    return b"".join(
        [
            f"--{boundary}\r\nContent-Type: application/json; charset=utf-8\r\n\r\n".encode(),
            json.dumps(metadata).encode(),
            f"\r\n--{boundary}\r\nContent-Type: {type}\r\n\r\n".encode(),
            data,
            f"\r\n--{boundary}--".encode(),
        ]
    )


def upload(server, name, data, metadata=None, headers=None, bucket=BUCKET):
    """An upload in one request, as JS sends it."""
    head = {
        "X-Goog-Upload-Protocol": "multipart",
        "Content-Type": "multipart/related; boundary=91",
        **(headers or {}),
    }
    body = related(metadata or {"contentType": "text/plain"}, data)
    return server.request("POST", f"/v0/b/{bucket}/o?name={quote(name)}", raw=body, headers=head)


# How each SDK begins an upload: method, address, headers.
STARTS = {
    "js": lambda name, size: (
        f"/v0/b/{BUCKET}/o?name={quote(name)}",
        {
            "X-Goog-Upload-Protocol": "resumable",
            "X-Goog-Upload-Command": "start",
            "X-Goog-Upload-Header-Content-Length": str(size),
            "X-Goog-Upload-Header-Content-Type": "video/mp4",
            "Content-Type": "application/json; charset=utf-8",
        },
        json.dumps({"name": name, "contentType": "video/mp4", "metadata": {"k": "v"}}).encode(),
    ),
    "android": lambda name, size: (
        f"/v0/b/{BUCKET}/o?name={quote(name)}&uploadType=resumable",
        {"X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start"},
        b"",
    ),
    "ios": lambda name, size: (
        f"{place(name)}?uploadType=resumable&name={quote(name)}",
        {
            "X-Goog-Upload-Command": "start",
            "X-Goog-Upload-Protocol": "resumable",
            "X-Goog-Upload-Content-Length": str(size),
            "X-Goog-Upload-Content-Type": "video/mp4",
            "Content-Type": "application/json",
        },
        json.dumps({"contentType": "video/mp4"}).encode(),
    ),
}


class Upload:
    """A resumable upload as one of the SDKs makes it."""

    def __init__(self, server, name, size, sdk="js", headers=None):
        path, head, body = STARTS[sdk](name, size)
        self.server, self.sdk, self.headers = server, sdk, headers or {}
        # iOS sends a credential with the start alone.
        self.later = {} if sdk == "ios" else self.headers
        self.started = server.request("POST", path, raw=body, headers={**head, **self.headers})
        url = self.started.headers.get("X-Goog-Upload-URL")
        self.path = url and "/" + url.split("/", 3)[3]

    def send(self, command, offset=None, data=b"", headers=None):
        head = {"X-Goog-Upload-Command": command, **self.later, **(headers or {})}
        if offset is not None:
            head["X-Goog-Upload-Offset"] = str(offset)
        method = "PUT" if self.sdk == "ios" else "POST"
        return self.server.request(method, self.path, raw=data, headers=head)

    def received(self):
        answer = self.send("query")
        assert answer.status == 200
        return int(answer.headers["X-Goog-Upload-Size-Received"])


def state(answer):
    """What an answer says of an upload."""
    size = answer.headers.get("X-Goog-Upload-Size-Received")
    return answer.status, answer.headers.get("X-Goog-Upload-Status"), size and int(size)
