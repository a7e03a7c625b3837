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
4. **Size and time.** A body that is too large is refused while it is read, before anything holds
   it. So is one that stops coming. An answer to a body that was not read ends its connection.
5. **Number.** Whoever has the secret can have many requests open, but not any number.

`coevo.studio.server` limits what comes before a request is complete.

Every answer has a content security policy without inline script, and forbids frames and sniffing.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import json
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException

__all__ = [
    "LOGIN_PAUSE",
    "UPLOADS",
    "Guard",
    "LoginAttempts",
    "Rules",
    "format_host",
    "is_loopback",
    "normalise_host",
]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = Iterable[tuple[bytes, bytes]]

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
MAX_OPEN = 192  # requests at a time; a page has one that stays open, for its events
BODY_SECONDS = 60.0  # without a byte of a body that somebody with the secret sends
STRANGER_SECONDS = 10.0  # for the whole body of a request without it, as of a login
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

    def is_known(self, headers: Headers) -> bool:
        """Return whether a request has the secret, as a program or as a page sends it."""
        given = list(headers)
        return self.has_key(given) or any(map(self.is_secret, _list_cookies(given, self.cookie)))

    def has_key(self, headers: Headers) -> bool:
        """Return whether a program, not a page, sends the secret."""
        values = (value.decode("latin-1") for name, value in headers if name == b"authorization")
        kinds = (value.partition(" ") for value in values)
        return any(kind.lower() == "bearer" and self.is_secret(key) for kind, _, key in kinds)

    def make_cookie(self) -> str:
        """Return the header that gives a browser the secret."""
        return f"{self.cookie}={self.secret}; Path=/; HttpOnly; SameSite=Strict"


def _encode(text: str) -> bytes:
    """Return the bytes of a text; a request in JSON may hold half a character."""
    return text.encode("utf-8", "surrogatepass")


def _list_cookies(headers: Headers, name: str) -> Iterator[str]:
    """Yield all values of a cookie.

    Other programs of this machine share the cookies of its host, and put anything into theirs. So
    nothing is decoded, and whatever looks odd is passed over. There may be several headers, and
    several cookies of one name, with other paths.
    """
    for header, value in headers:
        if header == b"cookie":
            for part in value.decode("latin-1").split(";"):
                found, _, text = part.partition("=")
                if found.strip() == name:
                    yield text.strip()


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
        self._n_open = 0  # requests with the secret that have no complete answer yet

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
        is_known = self.rules.is_known(scope["headers"])
        self._n_open += is_known
        try:
            await self._pass_on(scope, receive, send, is_known)
        finally:
            self._n_open -= is_known

    def _find_fault(
        self, scope: Scope, headers: dict[str, str], enters: bool
    ) -> tuple[int, str] | None:
        """Return the status and the sentence for a request that is refused."""
        rules, host = self.rules, headers.get("host", "")
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not rules.is_own_host(host):
            return 421, "This address does not belong to the studio. Open the one that it printed."
        is_public = scope["path"].startswith(PUBLIC)
        origin, has_key = headers.get("origin"), rules.has_key(scope["headers"])
        changes = scope["method"] not in SAFE_METHODS
        if (origin is not None or (changes and not has_key)) and origin != f"http://{host}":
            return 403, "The request comes from a page that is not the studio's."
        is_known = rules.is_known(scope["headers"])
        if not (is_public or enters or is_known):
            return 401, "The secret is missing. Open the address that the studio printed."
        if is_known and self._n_open >= MAX_OPEN:
            return 503, "Too many requests are open. Close some pages of the studio."
        limit = self._find_limit(scope)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 18 or int(length) > limit:
            return 413, f"The request is larger than {limit:,} bytes."
        return None

    def _find_limit(self, scope: Scope) -> int:
        is_upload = scope["path"].startswith(UPLOADS)
        return self.rules.max_upload if is_upload else self.rules.max_body

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

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send, is_known: bool) -> None:
        """Pass a request on: its body is bounded, and the answer has the headers of the guard."""
        body = _Body(receive, self._find_limit(scope), is_known)
        has_body = any(name in _BODY_NAMES and value != b"0" for name, value in scope["headers"])

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = [pair for pair in message.get("headers", ()) if pair[0] not in _NAMES]
                cache = [] if any(pair[0] == b"cache-control" for pair in given) else _NO_STORE
                is_read = body.is_complete or not has_body
                end = [] if is_read else _CLOSE  # the rest would stay on the connection
                message = {**message, "headers": [*given, *HEADERS, *cache, *end]}
            await send(message)

        await self.app(scope, body.receive, send_guarded)


class _Body:
    """The body of a request while it is read: neither larger nor slower than allowed."""

    def __init__(self, receive: Receive, limit: int, is_known: bool) -> None:
        self._receive, self._limit, self._is_known = receive, limit, is_known
        self._n_bytes = 0
        self._ends = asyncio.get_running_loop().time() + STRANGER_SECONDS
        self.is_complete = False

    async def receive(self) -> Message:
        """Return the next part; raise a 413 or a 408."""
        if self.is_complete:  # what follows says that the client has gone, whenever that is
            return await self._receive()
        now = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(now + BODY_SECONDS if self._is_known else self._ends):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(
                408, "The rest of the request has not come. Send it again."
            ) from None
        self._n_bytes += len(message.get("body", b""))
        if self._n_bytes > self._limit:
            raise HTTPException(413, f"The request is larger than {self._limit:,} bytes.")
        self.is_complete = not message.get("more_body", False)
        return message


_NAMES = {name for name, _ in HEADERS}
_BODY_NAMES = (b"content-length", b"transfer-encoding")  # of a request that has a body
_NO_STORE = [(b"cache-control", b"no-store")]
_CLOSE = [(b"connection", b"close")]


async def _refuse(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"error": sentence}).encode()
    headers = [
        (b"content-type", b"application/json"),
        *HEADERS,
        *_NO_STORE,
        *_CLOSE,
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


# Attempts to log in with a password take turns, so that nobody can guess quickly.
#
# Each address has a queue of its own: guesses from one machine do not delay the owner on another.
# A queue is short. Whoever fills it is refused at once, so no attempt waits long.


LOGIN_PAUSE = 1.0  # seconds after a wrong password
MAX_WAITING = 5  # attempts of one address at a time


@dataclass
class _Queue:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    n_waiting: int = 0


class LoginAttempts:
    """The queues of all addresses that try to log in now."""

    def __init__(self) -> None:
        self._queues: dict[str, _Queue] = {}

    @contextlib.asynccontextmanager
    async def take_turn(self, address: str) -> AsyncIterator[None]:
        """Wait for the turn of an attempt; raise a 429 if too many of this address wait."""
        queue = self._queues.setdefault(address, _Queue())
        if queue.n_waiting >= MAX_WAITING:
            raise HTTPException(429, "There are too many attempts to log in. Wait some seconds.")
        queue.n_waiting += 1
        try:
            async with queue.lock:
                yield
        finally:
            queue.n_waiting -= 1
            if not queue.n_waiting:
                del self._queues[address]
