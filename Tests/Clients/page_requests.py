"""Disturbs an update of a sample page on its way, at the page's own WebSocket."""

import json

# `disturbed` is true once it is done: for what is cut, after the page received it.
DISTURB = """
(part, fate) => {
  const { prototype } = WebSocket;
  const { send } = prototype;
  window.disturbed = false;
  window.release = null;
  const done = () => { window.disturbed = true; };
  const once = (does) => {
    prototype.send = function (text) {
      if (!text.includes('"do":"update"') || !text.includes(part)) return send.call(this, text);
      prototype.send = send;
      does(this, text);
    };
  };
  const answered = (socket, text, then) => {
    const { onmessage } = socket;
    const { id } = JSON.parse(text);
    socket.onmessage = (frame) => (JSON.parse(frame.data).id === id ? then() : onmessage.call(socket, frame));
    send.call(socket, text);
  };
  const fates = {
    lost: (socket) => {
      socket.addEventListener("close", done);
      socket.close();
    },
    unanswered: (socket, text) => {
      socket.addEventListener("close", done);
      answered(socket, text, () => socket.close());
    },
    late: (socket, text) => {
      socket.onclose();
      once((next, again) => answered(socket, text, () => {
        socket.close();
        send.call(next, again);
        done();
      }));
    },
    held: (socket, text) => {
      window.release = () => {
        send.call(socket, text);
        done();
      };
    },
  };
  once(fates[fate]);
}
"""


def disturb(window, part, fate):
    """Does something to the next update that has `part` in it.

    - lost: the connection ends, and the update has not arrived.
    - unanswered: it is done, and the connection ends before the page knows.
    - late: the page has lost its connection, and when it makes the update again, the first one arrives just before.
    - held: it waits for `release`.
    """
    window.value(f"void ({DISTURB})({json.dumps(part)}, {json.dumps(fate)})")


def release(window, meanwhile):
    """Lets go what is held, after something else was done."""
    window.wait("window.release")
    meanwhile()
    window.value("release()")
