"""The page on which a model can be tried, and what it needs to know of the models."""

from importlib.resources import files
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from tfmrc.serving.model_manager import Version

__all__ = ["described", "file", "index", "openapi"]

#: Only the server's own files, nothing inline: a text of an answer can run nothing.
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    ]
)
TYPES = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


async def index(request: Request) -> Response:
    """Returns the page."""
    return _reply("index.html", "text/html; charset=utf-8")


async def openapi(request: Request) -> Response:
    """Returns the description of the REST API."""
    return _reply("openapi.json", "application/json")


async def file(request: Request) -> Response:
    """Returns a file of the page."""
    name = request.path_params["file"]
    if name not in TYPES:
        raise HTTPException(404)
    return _reply(name, TYPES[name])


def _reply(name: str, content_type: str) -> Response:
    content = (files("tfmrc.serving") / "page_files" / name).read_bytes()
    headers = {
        "content-type": content_type,
        "content-security-policy": POLICY,
        "referrer-policy": "no-referrer",
        "cache-control": "no-cache",
    }
    return Response(content, headers=headers)


def described(name: str, version: Version) -> dict[str, Any]:
    """Returns a model's name, version, styles, signatures and an example, as JSON values.

    Args:
        name: str. The model's name.
        version: `Version`. A loaded version of it.
    """
    model = version.loaded.model
    card = model.card
    tasks = card.get("tasks") or []
    styled = any("style" in signature.inputs for signature in model.signatures.values())
    styles = [task["style"] for task in tasks if task.get("style")] if styled else []
    return {
        "name": name,
        "version": str(version.number),
        "model": card.get("model", {}).get("class", ""),
        "styles": list(dict.fromkeys(styles)),
        "max_passages": card.get("max_passages"),
        "signatures": {
            key: {"inputs": list(signature.inputs), "outputs": list(signature.outputs)}
            for key, signature in model.signatures.items()
        },
        "example": card.get("example_request"),
    }
