"""The review app: routes, static files, refusals as JSON. No logic."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from longbeam.annotation_ui.routes import acts, aids, leads, pages
from longbeam.annotation_ui.security import Access, Guard
from longbeam.annotation_ui.templating import STATIC
from longbeam.errors import UserError
from longbeam.review.checks import Checker
from longbeam.review.refusals import Problem, Refusal, forbidden
from longbeam.review.workspace import Workspace

_STATUS = {"not_found": 404, "forbidden": 403, "csrf": 403, "invalid": 422}
"""HTTP status by kind of refusal; all other kinds are conflicts with the state of the item: 409."""


def create_app(workspace: Workspace, access: Access) -> FastAPI:
    """Return the app over one benchmark."""
    # No documentation pages of FastAPI's: they load scripts from elsewhere. The schema itself is at /api/openapi.json.
    app = FastAPI(title="longbeam review", docs_url=None, redoc_url=None, openapi_url="/api/openapi.json")
    app.state.workspace, app.state.access, app.state.checker = workspace, access, Checker(workspace)
    app.include_router(acts.router)
    app.include_router(leads.router)
    app.include_router(aids.router)
    app.include_router(pages.router)
    app.add_api_route("/join/{token}", join, methods=["GET"], include_in_schema=False, response_model=None)
    app.mount(pages.STATIC_PATH, StaticFiles(directory=STATIC), name="static")
    app.add_exception_handler(Refusal, _refused)
    app.add_exception_handler(HTTPException, _missing)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(UserError, _broken)
    app.add_middleware(Guard, access=access)
    return app


def join(request: Request, token: str) -> Response:
    """Let in the reviewer whose personal link this is."""
    access: Access = request.app.state.access
    viewer = access.invited(token)
    if not viewer.can_write:
        raise forbidden("this link has ended or is of another benchmark; ask the lead of the review for a new one")
    answer = RedirectResponse("/queue", status_code=303)
    access.keep_session(answer, viewer)
    return answer


def _refused(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, Refusal)
    return _answer(request, exc.problem, _STATUS.get(exc.problem.error, 409))


def _missing(request: Request, exc: Exception) -> Response:
    """Answer for an address that no route has."""
    assert isinstance(exc, HTTPException)
    kind = "not_found" if exc.status_code == 404 else "invalid"
    message = f"there is no page {request.url.path}" if exc.status_code == 404 else str(exc.detail)
    return _answer(request, Problem(error=kind, message=message), exc.status_code)


def _answer(request: Request, problem: Problem, status: int) -> Response:
    """Return a refusal as a page to a browser that asks for one, and as JSON to a script."""
    if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
        return pages.problem_page(request, problem, status)
    return JSONResponse(problem.model_dump(mode="json"), status_code=status)


def _invalid(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, RequestValidationError)
    first = exc.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    problem = Problem(error="invalid", message=f"{where}: {first['msg']}")
    return _answer(request, problem, 422)


def _broken(request: Request, exc: Exception) -> Response:
    """Answer for a file that cannot be read or written; the message names the file and the remedy."""
    return _answer(request, Problem(error="store", message=str(exc)), 503)
