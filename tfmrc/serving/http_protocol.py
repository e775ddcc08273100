"""Uvicorn's HTTP protocol with limits on the time and the size of a request's head.

Uvicorn limits neither: a client that sends a byte per minute would hold a connection for ever, and
one that sends headers without end would fill the memory.
"""

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["limited_protocol"]

HEAD_BYTES = 2**16


def limited_protocol(receive_seconds: float) -> type[HttpToolsProtocol]:
    """Returns a protocol class that closes a connection whose head is late or too large.

    Args:
        receive_seconds: float. Seconds from the connection, or from a request's first byte, to the
            end of its head.
    """

    class LimitedProtocol(HttpToolsProtocol):
        _timer: Any = None
        _head_bytes = 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._begin()

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._begin()

        def on_headers_complete(self) -> None:
            self._end()
            super().on_headers_complete()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._head_bytes += len(data)
            if self._timer is not None and self._head_bytes > HEAD_BYTES:
                self.transport.close()

        def connection_lost(self, exc: Exception | None) -> None:
            self._end()
            super().connection_lost(exc)

        def _begin(self) -> None:
            self._end()
            self._head_bytes = 0
            self._timer = self.loop.call_later(receive_seconds, self.transport.close)

        def _end(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return LimitedProtocol
