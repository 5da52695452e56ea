"""A TLS client that sends records which bring no data: `ssl` of Python has no call for them, so OpenSSL is called itself."""

import ctypes
import socket

ssl, crypto = ctypes.CDLL("libssl.so.3"), ctypes.CDLL("libcrypto.so.3")
POINTER = ctypes.c_void_p
for made in (ssl.TLS_client_method, ssl.SSL_CTX_new, ssl.SSL_new, crypto.BIO_s_mem, crypto.BIO_new):
    made.restype = POINTER


class KeyUpdates:
    """One connection to a port of 127.0.0.1. It trusts every certificate."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self.context = POINTER(ssl.SSL_CTX_new(POINTER(ssl.TLS_client_method())))
        self.tls = POINTER(ssl.SSL_new(self.context))
        self.incoming, self.outgoing = [POINTER(crypto.BIO_new(POINTER(crypto.BIO_s_mem()))) for _ in range(2)]
        ssl.SSL_set_bio(self.tls, self.incoming, self.outgoing)
        ssl.SSL_set_connect_state(self.tls)
        while ssl.SSL_do_handshake(self.tls) != 1:
            self.socket.sendall(self.written())
            self.receive()
        self.socket.sendall(self.written())

    def written(self):
        """What OpenSSL wants to have sent."""
        buffer, text = ctypes.create_string_buffer(65536), b""
        while (count := crypto.BIO_read(self.outgoing, buffer, len(buffer))) > 0:
            text += buffer.raw[:count]
        return text

    def receive(self):
        part = self.socket.recv(65536)
        assert part, "the server closed the connection"
        crypto.BIO_write(self.incoming, part, len(part))

    def make(self, count):
        """Records, each of which gives this side another key."""
        records = []
        for _ in range(count):
            assert ssl.SSL_key_update(self.tls, 0) == 1 and ssl.SSL_do_handshake(self.tls) == 1
            records.append(self.written())
        return b"".join(records)

    def ask(self, request):
        """The begin of an answer."""
        assert ssl.SSL_write(self.tls, request, len(request)) == len(request)
        self.socket.sendall(self.written())
        buffer = ctypes.create_string_buffer(65536)
        while (count := ssl.SSL_read(self.tls, buffer, len(buffer))) <= 0:
            self.receive()
        return buffer.raw[:count]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        ssl.SSL_free(self.tls)
        ssl.SSL_CTX_free(self.context)
        self.socket.close()
