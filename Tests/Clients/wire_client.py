"""The realtime wire protocol as a client speaks it, message by message."""

import contextlib
import json

from websockets.sync.client import connect

SEGMENT = 16384


class Conversation:
    """What every transport has in common. Replies and pushes stay in the order in which they arrive."""

    number = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, action, **body):
        """Sends a request and returns its number."""
        self.number += 1
        message = {"t": "d", "d": {"r": self.number, "a": action, "b": body}}
        self.send_text(json.dumps(message, ensure_ascii=False))
        return self.number

    def request(self, action, **body):
        """Sends a request; returns its reply and the pushes that came before it."""
        number = self.send(action, **body)
        return self.reply(number)

    def reply(self, number):
        pushes = []
        while True:
            data = self.receive()["d"]
            if data.get("r") == number:
                return data["b"], pushes
            pushes.append(data)

    def push(self):
        """The next push."""
        data = self.receive()["d"]
        assert "a" in data and "r" not in data, data
        return data


class Wire(Conversation):
    """One WebSocket; with an SSL context over TLS, to localhost."""

    def __init__(self, port, ns="demo", context=None, **parameters):
        address = f"wss://localhost:{port}" if context else f"ws://127.0.0.1:{port}"
        query = "".join(f"&{name}={value}" for name, value in parameters.items())
        self.stack = contextlib.ExitStack()
        self.socket = self.stack.enter_context(
            connect(
                f"{address}/.ws?v=5&ns={ns}{query}", ssl=context, max_size=None, ping_interval=None, open_timeout=120
            )
        )
        self.hello = self.receive()

    def close(self):
        """Closes the connection with a Close frame."""
        self.stack.close()

    def receive(self, timeout=120):
        """The next whole message, put together from its segments."""
        text = self.socket.recv(timeout=timeout)
        if len(text) <= 6 and text.isdigit():
            text = "".join(self.socket.recv(timeout=timeout) for _ in range(int(text)))
        return json.loads(text)

    def send_text(self, text):
        pieces = [text[at : at + SEGMENT] for at in range(0, len(text), SEGMENT)]
        if len(pieces) > 1:
            self.socket.send(str(len(pieces)))
        for piece in pieces:
            self.socket.send(piece)
