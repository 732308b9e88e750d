"""Access control: host and origin checks, signed sessions, invitations, CSRF tokens, security headers.

On a loopback address, anybody on this machine chooses a name. On any other address, only invited reviewers may write,
and everybody else reads. The content security policy forbids to load anything from elsewhere.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from longbeam.review.people import Viewer
from longbeam.schemas.review import ReviewerRole
from longbeam.store.reviews import ReviewStore

CSRF_HEADER = "x-csrf-token"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True)
class Reach:
    """Address of a server, and who may write there."""

    host: str = "127.0.0.1"
    needs_token: bool = False
    """Whether writing needs an invitation; always true on an address that other machines can reach."""
    offered: Mapping[str, ReviewerRole] = field(default_factory=dict)
    """Names that may be chosen; empty: any name."""
    extra_hosts: frozenset[str] = frozenset()
    """Further names of this server that a Host header may carry."""


@dataclass(frozen=True)
class Access:
    """Reach of a server, and the secrets that sign its links, sessions and forms."""

    session_key: bytes
    invite_key: bytes
    cookie: str
    reach: Reach

    def session_of(self, viewer: Viewer) -> str:
        """Return the cookie of a viewer."""
        return _signed(self.session_key, {"r": viewer.reviewer_id, "role": viewer.role and viewer.role.value})

    def viewer_of(self, cookie: str | None) -> Viewer:
        """Return the viewer that a cookie names; a reader without a name if its signature is not ours."""
        return _viewer(_verified(self.session_key, cookie))

    def invitation(self, viewer: Viewer) -> str:
        """Return the token that lets a viewer in; it never changes."""
        return _signed(self.invite_key, {"r": viewer.reviewer_id, "role": viewer.role and viewer.role.value})

    def invited(self, token: str) -> Viewer:
        """Return the viewer that a token invites; a reader without a name if its signature is not ours."""
        return _viewer(_verified(self.invite_key, token))

    def csrf_of(self, cookie: str) -> str:
        """Return the CSRF token that a POST of this session must carry in its header."""
        return hmac.new(self.session_key, b"csrf:" + cookie.encode(), hashlib.sha256).hexdigest()

    def is_host_allowed(self, host: str) -> bool:
        """Whether a Host header names this server; refusing other names prevents DNS rebinding."""
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        if name in _LOOPBACK_NAMES or name in self.reach.extra_hosts:
            return True
        if is_loopback(self.reach.host):
            return False
        return name == self.reach.host or _is_address(name)


def open_access(store: ReviewStore, benchmark: str, reach: Reach) -> Access:
    """Return the access of a server; its secrets are in the review log, so that links outlive a restart."""
    return Access(
        session_key=store.secret("session"),
        invite_key=store.secret("invite"),
        # Browsers send cookies to every port of a host: two benchmarks side by side need two names.
        cookie="longbeam_" + hashlib.sha256(f"{benchmark}:{store.path.resolve()}".encode()).hexdigest()[:10],
        reach=replace(reach, needs_token=reach.needs_token or not is_loopback(reach.host)),
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """ASGI middleware: refuses foreign hosts and forged POSTs, and adds the security headers."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app = app
        self.access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refused = self._why_not(scope["method"], Headers(scope=scope))

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                if "cache-control" not in headers:
                    is_static = scope["path"].startswith("/static/") and message["status"] == 200
                    headers["cache-control"] = "max-age=31536000, immutable" if is_static else "no-store"
            await send(message)

        if refused is not None:
            error, text = refused
            answer = JSONResponse({"error": error, "message": text}, status_code=403)
            await answer(scope, receive, guarded)
            return
        await self.app(scope, receive, guarded)

    def _why_not(self, method: str, headers: Headers) -> tuple[str, str] | None:
        host = headers.get("host", "")
        if not self.access.is_host_allowed(host):
            return "host", f"this server does not answer to the host {host!r}; name it with --allow-host"
        if method in ("GET", "HEAD", "OPTIONS"):
            return None
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return "csrf", f"requests from {origin} are not taken"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "csrf", "requests from other sites are not taken"
        if not headers.get("content-type", "").startswith("application/json"):
            return "csrf", "bodies are JSON: send Content-Type: application/json"
        return None


def _signed(key: bytes, payload: object) -> str:
    body = base64.urlsafe_b64encode(json.dumps(payload).encode()).decode().rstrip("=")
    return f"{body}.{_signature(key, body)}"


def _verified(key: bytes, text: str | None) -> object:
    body, _, signature = (text or "").rpartition(".")
    if not body or not hmac.compare_digest(signature.encode(), _signature(key, body).encode()):
        return None
    try:
        return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except (ValueError, binascii.Error):
        return None


def _signature(key: bytes, body: str) -> str:
    return hmac.new(key, body.encode(), hashlib.sha256).hexdigest()


def _viewer(payload: object) -> Viewer:
    if not isinstance(payload, dict) or not payload.get("r"):
        return Viewer()
    return Viewer(str(payload["r"]), ReviewerRole(payload["role"]))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
