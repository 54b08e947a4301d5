"""Awaiting requests: tutti's progress thread tells a descriptor, on which the event loop sleeps."""

import asyncio
import os
import weakref

_bells = weakref.WeakKeyDictionary()  # of each event loop


class _Bell:
    """A descriptor of an event loop, and who waits for it."""

    def __init__(self, loop):
        self.fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self.waiting = {}  # request -> future
        loop.add_reader(self.fd, self.ring)

    def ring(self):
        os.eventfd_read(self.fd)
        for request in [request for request in self.waiting if request.ready]:
            future = self.waiting.pop(request)
            if not future.done():
                future.set_result(None)

    def __del__(self):
        os.close(self.fd)


async def wait(request):
    """What `await request` does. Cancelling gives up the wait, not the call."""
    loop = asyncio.get_running_loop()
    bell = _bells.get(loop)
    if bell is None:
        bell = _bells[loop] = _Bell(loop)
    while request.watch(bell.fd):
        future = bell.waiting[request] = loop.create_future()
        try:
            await future
        finally:
            bell.waiting.pop(request, None)
    return request.wait()
