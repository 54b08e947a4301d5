"""Awaiting requests: tutti's progress thread tells a descriptor, on which the event loop sleeps."""

import asyncio
import os
import weakref
from typing import Any, TypeVar

from tutti._tutti import Request

_Result = TypeVar("_Result")
_os: Any = os  # its eventfd is newer than some stubs of it

_bells: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Bell]" = weakref.WeakKeyDictionary()  # of each loop


class _Bell:
    """A descriptor of an event loop, and who waits for it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.fd = _os.eventfd(0, os.O_NONBLOCK | os.O_CLOEXEC)
        self.waiting: dict[Request[Any], asyncio.Future[None]] = {}
        loop.add_reader(self.fd, self.ring)

    def ring(self) -> None:
        _os.eventfd_read(self.fd)
        for request in [request for request in self.waiting if request._ready]:
            future = self.waiting.pop(request)
            if not future.done():
                future.set_result(None)

    def __del__(self) -> None:
        os.close(self.fd)


async def wait(request: Request[_Result]) -> _Result:
    """What `await request` does. Cancelling gives up the wait, not the call."""
    loop = asyncio.get_running_loop()
    bell = _bells.get(loop)
    if bell is None:
        bell = _bells[loop] = _Bell(loop)
    while (watches := request._watch(bell.fd)) is not False:
        if watches is None:
            await asyncio.sleep(0.001)
            continue
        future = bell.waiting[request] = loop.create_future()
        try:
            await future
        finally:
            bell.waiting.pop(request, None)
    return request.wait()
