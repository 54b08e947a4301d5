"""Awaiting requests: tutti's progress thread writes to a pipe, on which the event loop sleeps."""

import asyncio
import fcntl
import os
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeVar

from tutti._tutti import Request

_BATCH = 50  # waits that end in one turn of the loop: what else is due is not late for them
_Result = TypeVar("_Result")
_fcntl: Any = fcntl  # the size of a pipe is newer than some stubs of it

# A loop has its own in its reader, and they end together: who waited in vain until then would keep the loop.
_waiting: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, weakref.ref[_Waiting]]" = weakref.WeakKeyDictionary()

_latest: "Callable[[], _Waiting | None]" = lambda: None  # what the last one waited in: nearly always the same


class _Bell:
    """A pipe. Requests that are to be told hold it too: the loop may end before them."""

    def __init__(self, of: "weakref.ref[_Waiting]") -> None:
        self.of = of
        self.reads, self.writes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.room: int = _fcntl.fcntl(self.reads, _fcntl.F_GETPIPE_SZ)

    def fileno(self) -> int:
        """-1: nobody listens any more."""
        return self.writes if self.of() else -1

    def __del__(self) -> None:
        os.close(self.reads)
        os.close(self.writes)


class _Waiting:
    """Who waits in an event loop, by the identity of what they wait for, and the bell that is rung for all of them."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = weakref.ref(loop)
        self.bell = _Bell(weakref.ref(self))
        self.of: dict[int, list[asyncio.Future[None]]] = {}
        self.told: deque[int] = deque()
        loop.add_reader(self.bell.reads, self.look)

    def look(self) -> None:
        words = os.read(self.bell.reads, self.bell.room)
        more: Iterable[int] = memoryview(words).cast("N")
        if len(words) == self.bell.room:  # it was full: others may have found no room
            more = list(self.of)
        begins = not self.told
        self.told.extend(more)
        if begins:
            self.wake()

    def wake(self) -> None:
        for _ in range(min(_BATCH, len(self.told))):
            for future in self.of.pop(self.told.popleft(), ()):
                if not future.done():
                    future.set_result(None)
        if self.told:
            asyncio.get_running_loop().call_soon(self.wake)

    def future(self, request: Request[Any], loop: asyncio.AbstractEventLoop) -> "asyncio.Future[None]":
        """Done once the request may be complete."""
        made = loop.create_future()
        others = self.of.get(id(request))
        self.of[id(request)] = [made, *(other for other in others if not other.done())] if others else [made]
        return made


def waiting_in(loop: asyncio.AbstractEventLoop) -> _Waiting:
    global _latest
    waiting = _latest()
    if waiting is not None and waiting.loop() is loop:
        return waiting
    of = _waiting.get(loop)
    waiting = of() if of else None
    if waiting is None:
        waiting = _Waiting(loop)
        _waiting[loop] = weakref.ref(waiting)
    _latest = weakref.ref(waiting)
    return waiting


def wait(request: Request[_Result]) -> Generator[Any, Any, _Result]:
    """What `await request` does. Cancelling gives up the wait, not the call."""
    loop = asyncio.get_running_loop()
    waiting = waiting_in(loop)
    while (watches := request._watch(waiting.bell)) is not False:
        if watches is None:  # another thread waits for it, too
            yield from asyncio.sleep(0.001).__await__()
        else:
            yield from waiting.future(request, loop)
    return request.wait()
