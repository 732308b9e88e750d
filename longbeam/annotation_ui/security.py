"""Access control: host and origin checks, signed sessions, invitations, CSRF tokens, security headers.

On a loopback address, anybody on this machine chooses a name. On any other address, and wherever links are required,
only invited reviewers read and write; everybody else sees a page that says so. The content security policy forbids to
load anything from elsewhere.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from longbeam.review import Viewer
from longbeam.schemas import ReviewerRole
from longbeam.serving import foreign_page
from longbeam.store import ReviewStore

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
DAY_S = 86_400
SESSION_S = 180 * DAY_S
"""Longest time that a browser stays signed in on this machine; behind links, the time of a link."""
_OPEN_PATHS = ("/join/", "/static/")
"""Paths that a visitor without a link may ask for."""
_CLOSED = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Closed</title>
</head>
<body>
<main><h1>This review is open to invited people only</h1>
<p>Open the personal link that you were sent. If it has ended, ask the lead of the review for a new one.</p></main>
</body>
</html>
"""
_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True)
class Reach:
    """Address of a server, and who may write there."""

    host: str = "127.0.0.1"
    needs_token: bool = False
    """Whether reading and writing need an invitation; always true on an address that other machines can reach."""
    offered: Mapping[str, ReviewerRole] = field(default_factory=dict)
    """Names that may be chosen; empty: any name."""
    extra_hosts: frozenset[str] = frozenset()
    """Further names of this server that a Host header may carry."""
    link_days: int = 14
    """Days that a link lets its reviewer in, and that a session made by it lasts."""
    is_encrypted: bool = False
    """Whether the server speaks HTTPS."""


@dataclass(frozen=True)
class Access:
    """Reach of a server, and the secrets that sign its links, sessions and forms."""

    session_key: bytes
    invite_key: bytes
    cookie: str
    reach: Reach

    def session_of(self, viewer: Viewer) -> str:
        """Return the cookie of a viewer."""
        return _signed(self.session_key, viewer)

    def keep_session(self, answer: Response, viewer: Viewer) -> str:
        """Sign a viewer in with an answer, and return the cookie."""
        cookie, is_encrypted = self.session_of(viewer), self.reach.is_encrypted
        # Not "strict": a personal link or a permalink that is opened from a mail is a navigation from another site.
        answer.set_cookie(
            self.cookie, cookie, self.session_s, path="/", secure=is_encrypted, httponly=True, samesite="lax"
        )
        return cookie

    def viewer_of(self, cookie: str | None) -> Viewer:
        """Return the viewer that a cookie names; a nameless one if it is not ours, too old, or of nobody invited."""
        return self._admitted(_verified(self.session_key, cookie or "", self.session_s))

    def invitation(self, viewer: Viewer) -> str:
        """Return the token that lets a viewer in for `link_days`."""
        return _signed(self.invite_key, viewer)

    def invited(self, token: str) -> Viewer:
        """Return the viewer that a token invites; a nameless one if it is not ours, too old, or of nobody invited."""
        return self._admitted(_verified(self.invite_key, token, self.reach.link_days * DAY_S))

    @property
    def session_s(self) -> int:
        """Seconds that a session lasts."""
        return min(SESSION_S, self.reach.link_days * DAY_S) if self.reach.needs_token else SESSION_S

    def _admitted(self, viewer: Viewer) -> Viewer:
        """Return the viewer if still invited, with the role of today: who is no longer named is out."""
        if not viewer.can_write or not self.reach.needs_token:
            return viewer
        role = self.reach.offered.get(viewer.reviewer_id)
        return Viewer() if role is None else Viewer(viewer.reviewer_id, role)

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
        headers = Headers(scope=scope)
        refused = self._why_not(scope["method"], headers)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    sent[name] = value
                if "cache-control" not in sent:
                    is_static = scope["path"].startswith("/static/") and message["status"] == 200
                    sent["cache-control"] = "max-age=31536000, immutable" if is_static else "no-store"
            await send(message)

        answer: Response | None = None
        if refused is not None:
            error, text = refused
            answer = JSONResponse({"error": error, "message": text}, status_code=403)
        elif not self._may_enter(scope["path"], headers):
            answer = _closed(headers)
        await (answer or self.app)(scope, receive, guarded)

    def _may_enter(self, path: str, headers: Headers) -> bool:
        """Whether a visitor may ask for this path; behind links, nobody reads anything without one."""
        if not self.access.reach.needs_token or path.startswith(_OPEN_PATHS):
            return True
        cookie = cookie_parser(headers.get("cookie", "")).get(self.access.cookie)
        return self.access.viewer_of(cookie).can_write

    def _why_not(self, method: str, headers: Headers) -> tuple[str, str] | None:
        host = headers.get("host", "")
        if not self.access.is_host_allowed(host):
            return "host", f"this server does not answer to the host {host!r}; name it with --allow-host"
        if method in ("GET", "HEAD", "OPTIONS"):
            return None
        if why := foreign_page(headers):
            return "csrf", why
        if not headers.get("content-type", "").startswith("application/json"):
            return "csrf", "bodies are JSON: send Content-Type: application/json"
        return None


def _closed(headers: Headers) -> Response:
    if "text/html" in headers.get("accept", ""):
        return HTMLResponse(_CLOSED, status_code=403)
    text = "this review is open to invited people only; open the personal link that you were sent"
    return JSONResponse({"error": "signed_out", "message": text}, status_code=403)


def _signed(key: bytes, viewer: Viewer) -> str:
    return str(URLSafeTimedSerializer(key).dumps([viewer.reviewer_id, viewer.role and viewer.role.value]))


def _verified(key: bytes, text: str, lasts_s: int) -> Viewer:
    if lasts_s <= 0:
        return Viewer()
    try:
        reviewer_id, role = URLSafeTimedSerializer(key).loads(text, max_age=lasts_s)
        return Viewer(reviewer_id, ReviewerRole(role))
    except (BadData, ValueError, TypeError):
        return Viewer()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
