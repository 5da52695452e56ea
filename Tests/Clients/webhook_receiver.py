"""A webhook of a test's own: takes what the server sends, checks the signature, answers as the test says."""

import base64
import hashlib
import hmac
import http.server
import json
import queue
import threading
import time

SECRET = "an operator's secret of 34 symbols."


class Receiver:
    """Listens on 127.0.0.1. `statuses` are answered first, one each; then 200."""

    def __init__(self, *statuses, location=None):
        self.statuses = list(statuses)
        self.location = location
        self.requests = []
        self.messages = queue.Queue()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.take(self, body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}/codes?from=hearth"

    def take(self, handler, body):
        self.requests.append((handler.headers, body))
        status = self.statuses.pop(0) if self.statuses else 200
        handler.send_response(status)
        if self.location:
            handler.send_header("Location", self.location)
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        if status == 200:
            self.messages.put(verified(handler.headers, body))

    def next(self, timeout=120):
        return self.messages.get(timeout=timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def signature(headers, body, secret=SECRET):
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    code = hmac.new(secret.encode(), signed, hashlib.sha256).digest()
    return "v1," + base64.b64encode(code).decode()


def verified(headers, body):
    """The message, if it is signed as Standard Webhooks says; else what is wrong."""
    if abs(time.time() - int(headers["webhook-timestamp"])) > 60:
        return "the timestamp is not of now"
    if not hmac.compare_digest(headers["webhook-signature"], signature(headers, body)):
        return "the signature is not right"
    return json.loads(body)
