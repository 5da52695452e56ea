"""The plain event protocol as a client speaks it, message by message."""

import contextlib
import json

from websockets.sync.client import connect


class Events:
    """One connection to `/.events`. Messages come in the order in which they were sent."""

    def __init__(self, port, ns="demo", **options):
        self.stack = contextlib.ExitStack()
        self.socket = self.stack.enter_context(
            connect(
                f"ws://127.0.0.1:{port}/.events?ns={ns}",
                max_size=None,
                ping_interval=None,
                open_timeout=120,
                **options,
            )
        )
        self.id = 0
        self.hello = self.receive()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Closes the connection with a Close frame."""
        self.stack.close()

    def receive(self, timeout=120):
        return json.loads(self.socket.recv(timeout=timeout))

    def send(self, do, **members):
        """Sends a request and returns its id."""
        self.id += 1
        self.socket.send(json.dumps({"id": self.id, "do": do, **members}))
        return self.id

    def reply(self, id):
        """The reply to a request without its id, and the events that came before it."""
        events = []
        while True:
            message = self.receive()
            if "id" in message:
                assert message.pop("id") == id, message
                return message, events
            events.append(message)

    def request(self, do, **members):
        return self.reply(self.send(do, **members))

    def ask(self, do, **members):
        """The reply to a request, which must be the next thing that comes."""
        reply, events = self.request(do, **members)
        assert events == [], events
        return reply

    def observe(self, path, *events, **members):
        """Observes; returns the observer's id, the first events without it, and the reply."""
        reply, first = self.request("observe", path=path, events=list(events), **members)
        return self.id, [without_observer(event, self.id) for event in first], reply

    def events(self, observer, count):
        """The next messages, which must be events for this observer."""
        return [without_observer(self.receive(), observer) for _ in range(count)]


def without_observer(event, observer):
    assert event.pop("observer") == observer, event
    return event


def brief(events):
    """Events as (name, key, previous key) or (name,)."""
    return [
        (event["event"], event["key"], event.get("previousKey"))
        if "key" in event
        else (event["event"],)
        for event in events
    ]
