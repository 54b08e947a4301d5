"""Awaiting requests: tutti's progress thread tells a descriptor, on which the event loop sleeps."""

import asyncio
import os
import weakref
from typing import Any, TypeVar

from tutti._tutti import Request

_Result = TypeVar("_Result")
_os: Any = os  # its eventfd is newer than some stubs of it

_waiting: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Waiting]" = weakref.WeakKeyDictionary()


class _Bell:
    """A descriptor. Requests that are to be told hold it too: the loop may end before them."""

    def __init__(self) -> None:
        self.fd: int = _os.eventfd(0, os.O_NONBLOCK | os.O_CLOEXEC)

    def fileno(self) -> int:
        return self.fd

    def __del__(self) -> None:
        os.close(self.fd)


class _Waiting:
    """Who waits in an event loop, and the bell that is rung for all of them."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.bell = _Bell()
        self.of: dict[asyncio.Future[None], Request[Any]] = {}
        loop.add_reader(self.bell, self.look)

    def look(self) -> None:
        _os.eventfd_read(self.bell.fd)
        for future, request in self.of.items():
            if request._ready and not future.done():
                future.set_result(None)


async def wait(request: Request[_Result]) -> _Result:
    """What `await request` does. Cancelling gives up the wait, not the call."""
    loop = asyncio.get_running_loop()
    waiting = _waiting.get(loop)
    if waiting is None:
        waiting = _waiting[loop] = _Waiting(loop)
    while (watches := request._watch(waiting.bell)) is not False:
        if watches is None:
            await asyncio.sleep(0.001)
            continue
        future = loop.create_future()
        waiting.of[future] = request
        try:
            await future
        finally:
            del waiting.of[future]
    return request.wait()
