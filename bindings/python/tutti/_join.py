"""How ranks find each other where the library does not know the launcher: through mpi4py, or through torchrun's store. And
how torch's own do where torch does not know the launcher: through the library."""

import datetime
import json
import os
import socket
from collections.abc import Callable
from typing import Any

from tutti._tutti import Comm, Context

LAUNCHERS = ("TUTTI_BOOT", "PMIX_RANK", "PMI_FD")  # that the library knows
_RANK_OF_LAUNCHER = ("TUTTI_BOOT", "TUTTI_RANK", "PMIX_NAMESPACE", "PMIX_RANK", "PMI_FD", "PMI_RANK")
_SAID = "_TUTTI_LAUNCHER_SAID"  # which rank of a launcher, and what was set for it
_TORCHRUN = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
_SECONDS = 300

_stores: list[Any] = []  # rank 0's serves the others as long as the process lives
_ports: list[socket.socket] = []


def from_mpi4py(comm: Any) -> Comm:
    """What Comm.from_mpi4py does. The job is one of its own: its ranks are those of `comm`."""
    from mpi4py import MPI

    if not isinstance(comm, MPI.Intracomm):
        raise TypeError(f"from_mpi4py: {comm!r} is no communicator of one group of mpi4py")

    def allgather(mine: bytes) -> bytearray:
        everything = bytearray(comm.size * len(mine))
        comm.Allgather([mine, MPI.BYTE], [everything, MPI.BYTE])
        return everything

    return Context(boot=(comm.rank, comm.size, allgather)).comm()


def torchrun() -> tuple[int, int, Callable[[bytes], bytes]] | None:
    """The boot of a rank that torchrun started, or whatever sets its four variables; None: nobody has. A launcher may have
    started torchrun, once for each machine: then its variables are left over, and are no rank's."""
    launched = any(os.environ.get(name) for name in LAUNCHERS) and not os.environ.get("TORCHELASTIC_RUN_ID")
    if launched or not all(os.environ.get(name) for name in _TORCHRUN):
        return None
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    if size == 1:  # torchrun counts before a launcher's job
        return (0, 1, bytes) if os.environ.get("TORCHELASTIC_RUN_ID") else None
    import torch.distributed

    dist: Any = torch.distributed

    # As torch itself does: the store is that of the launcher, or rank 0 opens it, once for all that share its port.
    agents = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    limit = datetime.timedelta(seconds=_SECONDS)
    kind = {"use_libuv": False} if lacks_libuv(dist) else {}
    store = dist.TCPStore(host, port, size, rank == 0 and not agents, limit, multi_tenant=True, **kind)
    _stores.append(store)
    prefix = f"tutti/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}"
    turn = f"{prefix}/turn/{rank}"
    prefix += f"/{store.add(turn, 1)}"  # what an earlier context wrote is still there
    count = 0

    def allgather(mine: bytes) -> bytes:
        nonlocal count
        count += 1
        store.set(f"{prefix}/{count}/{rank}", mine.hex())
        try:
            return b"".join(bytes.fromhex(store.get(f"{prefix}/{count}/{r}").decode()) for r in range(size))
        except Exception:  # others were late: a next try is the same turn, and finds nothing of this one
            for n in range(1, count + 1):
                store.delete_key(f"{prefix}/{n}/{rank}")
            store.add(turn, -1)
            raise

    return rank, size, allgather


def lacks_libuv(dist: Any) -> bool:
    """Whether this torch has only its older store, and wants to be told, as Debian 13's: it says so when it is asked."""
    try:
        dist.TCPStore("localhost", 0, 1, True, wait_for_workers=False, use_libuv=True)
    except TypeError:
        return False  # it is older than the other store
    except RuntimeError as error:
        return "libuv" in str(error)
    return False


def own_port() -> int:
    """A port that nobody else is given while this process lives. Torch's store can listen there: it shares ports."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("", 0))
    _ports.append(holder)
    return int(holder.getsockname()[1])


def _as_torchrun() -> dict[str, str]:
    """What torchrun would have set."""
    from tutti import allgather_objects, world

    comm = world()
    ranks = allgather_objects(comm, (socket.gethostname(), own_port() if comm.rank == 0 else 0))
    hosts = [host for host, _ in ranks]
    return {
        "RANK": str(comm.rank),
        "WORLD_SIZE": str(comm.size),
        "LOCAL_RANK": str(hosts[: comm.rank].count(hosts[comm.rank])),
        "LOCAL_WORLD_SIZE": str(hosts.count(hosts[comm.rank])),
        "MASTER_ADDR": hosts[0] if len(set(hosts)) > 1 else "localhost",
        "MASTER_PORT": str(ranks[0][1]),
    }


def _rank_of_launcher() -> list[str | None]:
    return [os.environ.get(name) for name in _RANK_OF_LAUNCHER]


def _forget_another_rank() -> None:
    """A rank that starts a launcher passes on what was set for itself, which is wrong for the ranks of that one."""
    rank, said = json.loads(os.environ.get(_SAID) or "[null, {}]")
    if rank != _rank_of_launcher() and all(os.environ.get(name) == value for name, value in said.items()):
        for name in said:
            del os.environ[name]


def _ask() -> None:
    said = {name: value for name, value in _as_torchrun().items() if not os.environ.get(name)}
    os.environ.update(said)
    os.environ[_SAID] = json.dumps([_rank_of_launcher(), said])


def _choose_store() -> None:
    import torch.distributed

    if "USE_LIBUV" not in os.environ and lacks_libuv(torch.distributed):
        os.environ["USE_LIBUV"] = "0"


def ask_launcher(rendezvous: Any) -> None:
    """Torch's env:// works where mpirun or the like has started the ranks, and nobody says which they are; and tcp:// too
    where torch lacks what it asks for. rendezvous: the module torch.distributed.rendezvous."""
    handlers = rendezvous._rendezvous_handlers
    env, tcp = handlers["env"], handlers["tcp"]

    def ask(url: str, **named: Any) -> Any:
        if any(os.environ.get(name) for name in LAUNCHERS) and "rank=" not in url:
            _forget_another_rank()
            if not os.environ.get("RANK"):
                _ask()
        _choose_store()
        return env(url, **named)

    def meet(url: str, **named: Any) -> Any:
        _choose_store()
        return tcp(url, **named)

    if env.__module__ != __name__:
        handlers.update(env=ask, tcp=meet)
