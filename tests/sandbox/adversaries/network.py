"""Talking to anybody."""

from __future__ import annotations

from adversaries.adversary import foiled

FILTER = "seccomp filter"

ADVERSARIES = (
    foiled(
        "connect-to-loopback",
        "connects to a server that listens on loopback",
        FILTER,
        """
        import socket
        forbidden(socket.create_connection, ("127.0.0.1", PORT), 1)
        forbidden(socket.create_connection, ("::1", PORT), 1)
        """,
    ),
    foiled(
        "http-request",
        "fetches a page with the standard library",
        FILTER,
        """
        import urllib.request
        forbidden(lambda: urllib.request.urlopen(f"http://127.0.0.1:{PORT}/", timeout=1).read())
        """,
    ),
    foiled(
        "resolve-a-name",
        "asks the system's resolver, which speaks over sockets",
        FILTER,
        """
        import socket
        forbidden(socket.getaddrinfo, "example.invalid", 80)
        """,
    ),
    foiled(
        "sockets-of-every-family",
        "makes a socket of every family and type that there is",
        FILTER,
        """
        import socket
        for family in range(64):
            for kind in (1, 2, 3, 4, 5, 6, 10):
                forbidden(socket.socket, family, kind)
                forbidden(socket.socket, family, kind, 255)
        """,
    ),
    foiled(
        "socket-pair",
        "makes a connected pair of sockets",
        FILTER,
        """
        import socket
        forbidden(socket.socketpair)
        """,
    ),
    foiled(
        "listen",
        "opens a port of its own, and an abstract address",
        FILTER,
        """
        import socket
        forbidden(lambda: socket.create_server(("127.0.0.1", 0)))
        forbidden(lambda: socket.socket(socket.AF_UNIX).bind("\\0adversary"))
        """,
    ),
)
