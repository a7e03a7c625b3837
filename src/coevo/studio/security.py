"""Who may talk to the server: the secret, the Host, the Origin, and how much may be sent.

`Guard` is a plain ASGI application around the studio. Every request passes these checks, in this
order:

1. **Host.** The name in the address must be that of this server. A page whose name an attacker
   points to 127.0.0.1 (DNS rebinding) has another one.
2. **Origin.** A request that changes something, and any request with an Origin, must come from a
   page of this server. A page elsewhere cannot use the cookie of this one (CSRF).
3. **Secret.** A random text, known from the address that the server prints. The first request
   has it in the address and receives a cookie. It is compared in constant time. The browser that
   the server opens gets a ticket instead, which enters once: other users see its command line.
4. **Size.** A body that is too large is refused while it is read, before anything holds it.

Every answer has a content security policy without inline script, and forbids frames and sniffing.
"""

from __future__ import annotations

import contextlib
import hmac
import ipaddress
import json
import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException

__all__ = ["UPLOADS", "Guard", "Rules", "format_host", "is_loopback", "normalise_host"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
UPLOADS = "/api/upload/"  # requests below this address may be as large as an upload
PUBLIC = ("/assets/", "/login")  # the page itself and the login form hold no data of the user
MAX_BODY = 1 << 22  # bytes of a request that is not an upload
MAX_UPLOAD = 1 << 31  # bytes
SAFE_METHODS = ("GET", "HEAD")


def is_loopback(host: str) -> bool:
    """Return whether only programs of this machine reach a server on this host.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def normalise_host(host: str) -> str:
    """Return a host as sockets know it: without brackets, in small letters, a number in full.

    >>> normalise_host("[::1]"), normalise_host("LocalHost"), normalise_host("127.1")
    ('::1', 'localhost', '127.0.0.1')
    """
    name = host.strip().removeprefix("[").removesuffix("]").lower()
    with contextlib.suppress(OSError):  # it is a name, or an address of IPv6
        name = socket.inet_ntoa(socket.inet_aton(name))
    return name


def format_host(host: str) -> str:
    """Return a host as addresses have it: an address of IPv6 has brackets.

    >>> format_host("::1"), format_host("localhost")
    ('[::1]', 'localhost')
    """
    return f"[{host}]" if ":" in host else host


@dataclass
class Rules:
    """What the guard compares requests with.

    `hosts` are the names of this server, without the port. `port` may be set when the server
    has one. With a `password` the login page gives out the cookie.
    """

    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    ticket: str = ""  # another secret, for the first request only; see `make_ticket`
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")
    port: int = 0
    password: str | None = None
    allows_addresses: bool = False  # any numeric address of this machine: no name, no rebinding
    max_body: int = MAX_BODY
    max_upload: int = MAX_UPLOAD

    @property
    def cookie(self) -> str:
        """The name of the cookie. Cookies are shared by all ports of a host."""
        return f"coevo_studio_{self.port}"

    def is_own_host(self, host: str) -> bool:
        """Return whether the Host of a request names this server."""
        name, mark, port = host.rpartition(":")
        if not mark or (host.startswith("[") and host.endswith("]")):
            name, port = host, "80"
        if port != str(self.port):
            return False
        return name.lower() in self.hosts or (self.allows_addresses and _is_address(name))

    def is_secret(self, text: str) -> bool:
        """Compare a text with the secret, in a time that does not depend on it."""
        return hmac.compare_digest(_encode(text), _encode(self.secret))

    def make_ticket(self) -> str:
        """Return a secret that enters once, in place of the secret."""
        self.ticket = secrets.token_urlsafe(32)
        return self.ticket

    def use_ticket(self, text: str) -> bool:
        """Return whether a text is the ticket, which then is void."""
        is_ticket = bool(self.ticket) and hmac.compare_digest(_encode(text), _encode(self.ticket))
        if is_ticket:
            self.ticket = ""
        return is_ticket

    def is_password(self, text: str) -> bool:
        """Compare a text with the password, in a time that does not depend on it."""
        known = self.password
        return known is not None and hmac.compare_digest(_encode(text), _encode(known))

    def make_cookie(self) -> str:
        """Return the header that gives a browser the secret."""
        return f"{self.cookie}={self.secret}; Path=/; HttpOnly; SameSite=Strict"


def _encode(text: str) -> bytes:
    """Return the bytes of a text; a request in JSON may hold half a character."""
    return text.encode("utf-8", "surrogatepass")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


class Guard:
    """An ASGI application that lets only permitted requests through to another one."""

    def __init__(self, app: App, rules: Rules) -> None:
        self.app, self.rules = app, rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, and pass it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        enters = self._enters(scope, headers)
        answer = self._find_fault(scope, headers, enters)
        if answer is not None:
            await _refuse(send, *answer)
            return
        if enters:
            await _enter(send, self.rules)
            return
        await self._pass_on(scope, receive, send)

    def _find_fault(
        self, scope: Scope, headers: dict[str, str], enters: bool
    ) -> tuple[int, str] | None:
        """Return the status and the sentence for a request that is refused."""
        rules, host = self.rules, headers.get("host", "")
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not rules.is_own_host(host):
            return 421, "This address does not belong to the studio. Open the one that it printed."
        is_public = scope["path"].startswith(PUBLIC)
        origin, has_key = headers.get("origin"), self._has_key(headers)
        changes = scope["method"] not in SAFE_METHODS
        if (origin is not None or (changes and not has_key)) and origin != f"http://{host}":
            return 403, "The request comes from a page that is not the studio's."
        if not (is_public or has_key or self._has_cookie(headers) or enters):
            return 401, "The secret is missing. Open the address that the studio printed."
        limit = self._find_limit(scope)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 18 or int(length) > limit:
            return 413, f"The request is larger than {limit:,} bytes."
        return None

    def _find_limit(self, scope: Scope) -> int:
        is_upload = scope["path"].startswith(UPLOADS)
        return self.rules.max_upload if is_upload else self.rules.max_body

    def _has_key(self, headers: dict[str, str]) -> bool:
        """Return whether a program, not a page, sends the secret."""
        kind, _, key = headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and self.rules.is_secret(key)

    def _has_cookie(self, headers: dict[str, str]) -> bool:
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        found = cookies.get(self.rules.cookie)
        return found is not None and self.rules.is_secret(found.value)

    def _enters(self, scope: Scope, headers: dict[str, str]) -> bool:
        """Return whether this is the first request, with the secret in the address."""
        if (
            scope["path"] != "/"
            or scope["method"] != "GET"
            or b"token=" not in scope["query_string"]
        ):
            return False
        tokens = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
        if not self.rules.is_own_host(headers.get("host", "")):  # it would void the ticket
            return False
        return self.rules.is_secret(tokens[0]) or self.rules.use_ticket(tokens[0])

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on: its body is bounded, and the answer has the headers of the guard."""
        limit, n_bytes = self._find_limit(scope), 0

        async def receive_bounded() -> Message:
            nonlocal n_bytes
            message = await receive()
            n_bytes += len(message.get("body", b""))
            if n_bytes > limit:
                raise HTTPException(413, f"The request is larger than {limit:,} bytes.")
            return message

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = [pair for pair in message.get("headers", ()) if pair[0] not in _NAMES]
                cache = [] if any(pair[0] == b"cache-control" for pair in given) else _NO_STORE
                message = {**message, "headers": [*given, *HEADERS, *cache]}
            await send(message)

        await self.app(scope, receive_bounded, send_guarded)


_NAMES = {name for name, _ in HEADERS}
_NO_STORE = [(b"cache-control", b"no-store")]


async def _refuse(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"error": sentence}).encode()
    headers = [
        (b"content-type", b"application/json"),
        *HEADERS,
        *_NO_STORE,
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _enter(send: Send, rules: Rules) -> None:
    """Give the cookie, and open the page without the secret in its address."""
    headers = [
        (b"location", b"/"),
        (b"set-cookie", rules.make_cookie().encode()),
        *HEADERS,
        *_NO_STORE,
    ]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
