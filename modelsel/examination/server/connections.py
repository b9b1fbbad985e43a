"""Connections of the server: a request is complete in time, a reply is read, and one machine has so many connections.

uvicorn waits for ever for the rest of a request, and for a caller that does not read what was asked for: either would hold a
connection, and the reply's memory, until the caller closes it.
"""

from asyncio import TimerHandle, Transport

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 30.0  # within which a request, body and all, has to be here
LEAST = 1 << 16  # bytes of a reply that are read in half of that time, or all that is left
OF_A_MACHINE, OF_ALL = 64, 256  # connections; behind a proxy all come from one machine
INCOMPLETE = (h11.IDLE, h11.SEND_BODY)  # what the caller is at, while something of the request is missing


class TimedConnection(H11Protocol):  # type: ignore[misc]  # uvicorn has no types
    """A connection that is closed when a request that was begun, or awaited from the start, is not here in time.

    So it is where a reply waits to be read and two looks in a row, half the time apart, find hardly less of it.
    """

    seconds = SECONDS
    most = OF_A_MACHINE
    _late: TimerHandle | None = None
    _next: TimerHandle | None = None
    _unsent = _stuck = 0

    def connection_made(self, transport: Transport) -> None:
        """Take a connection, and start its clock."""
        super().connection_made(transport)
        host = self.client[0] if self.client else ""
        if sum(1 for one in self.connections if (getattr(one, "client", None) or ("",))[0] == host) > self.most:
            transport.abort()
        else:
            self._wait()
            self._watch()

    def data_received(self, data: bytes) -> None:
        """Take what has come; the clock runs while something is missing."""
        super().data_received(data)
        if self.conn.their_state not in INCOMPLETE:
            self._stop()
        elif self._late is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let the connection go, and its clocks."""
        self._stop()
        if self._next is not None:
            self._next.cancel()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._late = self.loop.call_later(self.seconds, self.transport.abort)

    def _watch(self) -> None:
        """Look how much of a reply is still unread, and look again."""
        left = self.transport.get_write_buffer_size()
        self._stuck = self._stuck + 1 if left > max(0, self._unsent - LEAST) else 0
        self._unsent = left
        if self._stuck > 1:
            self.transport.abort()
        else:
            self._next = self.loop.call_later(self.seconds / 2, self._watch)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class ProxiedConnection(TimedConnection):
    """The same behind a declared proxy, from which every connection comes."""

    most = OF_ALL
