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
        _last_reply: bytes | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._start_timer()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            if self._last_reply is not None:
                return
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

        def on_response_complete(self) -> None:
            is_last = not self.pipeline
            super().on_response_complete()
            if is_last and self._last_reply is not None:
                self._finish(self._last_reply)

        def send_400_response(self, msg: str) -> None:
            self._refuse(400, msg)

        def _start_timer(self) -> None:
            self._timer = self.loop.call_later(receive_seconds, self._close)

        def _stop_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _close(self) -> None:
            self._end(b"")

        def _refuse(self, status: int, message: str) -> None:
            body = json.dumps({"error": message}).encode()
            head = (
                f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\n"
                "content-type: application/json\r\n"
                f"content-length: {len(body)}\r\n"
                "connection: close\r\n\r\n"
            )
            self._end(head.encode("ascii") + body)

        def _end(self, reply: bytes) -> None:
            """Closes the connection by a reply, after those of the requests before it."""
            self._stop_timer()
            cycle = self.cycle
            if cycle is None or cycle.response_complete:
                self._finish(reply)
            elif not cycle.more_body:  # a request that is complete waits for its reply
                self._last_reply = reply
            elif self.pipeline:  # its own body is refused, and others wait before it
                self.pipeline.popleft()
                self._last_reply = reply
            else:
                self._finish(b"" if cycle.response_started else reply)

        def _finish(self, reply: bytes) -> None:
            if not self.transport.is_closing():
                self.transport.write(reply)
                self.transport.close()

    return LimitedProtocol
