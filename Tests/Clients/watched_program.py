"""Runs a program of a few lines and tells which hosts but this one it tries to reach: `watched_program.py FILE`.

Names are looked up and connections begun by the functions below alone, whatever library asks, so that a library that is not
known here is watched too. An attempt that would leave this machine fails, and is reported at the end as
`{"foreign": [...], "error": ...}`.
"""

import ipaddress
import json
import runpy
import socket
import sys
import threading

FOREIGN = []
LOCAL_NAMES = {"localhost", "", None}


def is_here(host):
    name = host.decode() if isinstance(host, bytes) else host
    if name in LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def guarded(function, host_of, error):
    def call(*arguments, **options):
        host = host_of(*arguments, **options)
        if not is_here(host):
            FOREIGN.append(str(host))
            raise error(f"{host} is not this machine")
        return function(*arguments, **options)

    return call


def peer(_, address, *__):
    """The host of an address; a path is a socket of this machine."""
    return address[0] if isinstance(address, tuple) else None


def watch():
    def first(host, *_, **__):
        return host

    for name in ["getaddrinfo", "gethostbyname", "gethostbyname_ex"]:
        setattr(socket, name, guarded(getattr(socket, name), first, socket.gaierror))

    class Watched(socket.socket):
        connect = guarded(socket.socket.connect, peer, ConnectionRefusedError)
        connect_ex = guarded(socket.socket.connect_ex, peer, ConnectionRefusedError)

        def sendto(self, data, *rest):
            return guarded(super().sendto, lambda _, *rest: peer(None, rest[-1]), OSError)(
                data, *rest
            )

    socket.socket = Watched


def main():
    watch()
    error = None
    try:
        runpy.run_path(sys.argv[1])
    except Exception as fault:  # What it says is what is asked for.
        error = f"{type(fault).__name__}: {fault}"
    # What goes on behind the program's back counts too.
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(120)
    print(json.dumps({"foreign": FOREIGN, "error": error}))


main()
