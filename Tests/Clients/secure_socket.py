"""A WebSocket over TLS, read and written by one thread.

The synchronous client of `websockets` reads in a thread of its own. OpenSSL takes one thread per connection: what
another writes while a session ticket is read gets lost, with any server, about once in 1,000 connections.
"""

import asyncio

from websockets.asyncio.client import connect


class SecureSocket:
    def __init__(self, url, context, **options):
        self.runner = asyncio.Runner()
        try:
            self.socket = self.runner.run(self._open(url, context, options))
        except BaseException:
            self.runner.close()
            raise

    @staticmethod
    async def _open(url, context, options):
        return await connect(url, ssl=context, open_timeout=120, proxy=None, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self.runner:
            self.runner.run(self.socket.close())

    def send(self, text):
        self.runner.run(self.socket.send(text))

    def recv(self, timeout=120):
        return self.runner.run(asyncio.wait_for(self.socket.recv(), timeout))
