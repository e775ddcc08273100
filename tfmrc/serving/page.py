"""The page on which a model can be tried, and what it needs to know of the models."""

from importlib.resources import files
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from tfmrc.serving.model_manager import Version

#: Only the server's own files, nothing inline: a text of an answer can run nothing.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
#: The files by their paths, and their types.
FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/openapi.json": ("openapi.json", "application/json"),
    "/page/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/page/icon.svg": ("icon.svg", "image/svg+xml"),
}


async def file(request: Request) -> Response:
    """Returns one of `FILES`."""
    name, content_type = FILES[request.scope["path"]]
    headers = {
        "content-type": content_type,
        "content-security-policy": POLICY,
        "referrer-policy": "no-referrer",
        "cache-control": "no-cache",
    }
    content = (files("tfmrc.serving") / "page_files" / name).read_bytes()
    return Response(content, headers=headers)


def described(name: str, version: Version) -> dict[str, Any]:
    """Returns a model's name, version, class, styles and signatures, as JSON values.

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
        "signatures": {
            key: {"inputs": list(signature.inputs), "outputs": list(signature.outputs)}
            for key, signature in model.signatures.items()
        },
    }
