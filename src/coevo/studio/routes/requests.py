"""What handlers share: JSON bodies, and the stream of an upload."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from coevo.errors import FormatError
from coevo.files.files import load_json

__all__ = ["Answer", "read_body", "receive_file"]


class Answer(JSONResponse):
    """An answer in JSON. What a file of the workspace holds may have no form in JSON."""

    def render(self, content: Any) -> bytes:
        """Return the bytes; raise `FormatError` for what JSON cannot hold."""
        try:
            return super().render(content)
        except ValueError:
            raise FormatError(
                "A file of the workspace holds a number that is not finite, or text that is not "
                "Unicode."
            ) from None


async def read_body(request: Request) -> dict[str, Any]:
    """Return the body of a request, a JSON object."""
    if request.headers.get("content-type", "").split(";")[0] != "application/json":
        raise HTTPException(415, "The body must be JSON.")
    try:
        found = load_json((await request.body()).decode())
    except ValueError:
        raise HTTPException(400, "The body is not JSON.") from None
    if not isinstance(found, dict):
        raise HTTPException(400, "The body must be a JSON object.")
    _refuse_half_characters(found)
    return found


def _refuse_half_characters(content: dict[str, Any]) -> None:
    """Raise a 400 for text that no file can hold: JSON can have half of a pair of codes."""
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise HTTPException(400, "The body holds text that is not Unicode.") from None


async def receive_file(request: Request, target: Path) -> None:
    """Write the body of a request to a new file, part by part; leave none after a failure."""
    try:
        with target.open("xb") as stream:
            async for part in request.stream():
                stream.write(part)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
