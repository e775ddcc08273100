"""Uvicorn's HTTP protocol with limits on the time and the size of a request's head.

Uvicorn bounds the time between two requests of a connection, but not the time in which a request
arrives, nor the size of its headers: a client that sends a byte per minute would hold a connection
for ever. The parser is llhttp, which refuses what a proxy could read in another way: two
Content-Lengths, or a Content-Length beside a Transfer-Encoding.
"""

import http
import json
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["limited_protocol"]

HEAD_BYTES = 2**16


def limited_protocol(receive_seconds: float) -> type[HttpToolsProtocol]:
    """Returns a protocol class whose requests must begin within a time.

    Args:
        receive_seconds: float. Seconds from the connection, or from a request's first byte, to the
            end of its head. Afterwards the connection is closed.
    """

    class LimitedProtocol(HttpToolsProtocol):
        _timer: Any = None
        _head_bytes = 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._start_timer()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._timer is None:
                self._head_bytes = 0
                return
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self._refuse(431, f"The head must have at most {HEAD_BYTES:,} bytes.")

        def on_message_begin(self) -> None:
            super().on_message_begin()
            if self._timer is None:
                self._start_timer()

        def on_headers_complete(self) -> None:
            self._stop_timer()
            super().on_headers_complete()

        def send_400_response(self, msg: str) -> None:
            self._refuse(400, msg)

        def _start_timer(self) -> None:
            self._timer = self.loop.call_later(receive_seconds, self._close)

        def _stop_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _close(self) -> None:
            self._timer = None
            if self.transport is not None:
                self.transport.close()

        def _refuse(self, status: int, message: str) -> None:
            self._stop_timer()
            body = json.dumps({"error": message}).encode()
            head = (
                f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\n"
                "content-type: application/json\r\n"
                f"content-length: {len(body)}\r\n"
                "connection: close\r\n\r\n"
            )
            self.transport.write(head.encode("ascii") + body)
            self.transport.close()

    return LimitedProtocol
