"""The MPI functions that tutti stands in front of, by what is done with them, and their prototypes as an MPI's own
header has them. A function that an MPI lacks is left out; those with an _c form (large counts) have it as well.
"""
import dataclasses
import re
import subprocess

# Served by tutti: blocking, I..., ..._init (MPIX_... in Open MPI 4.1).
COLLECTIVES = """Allreduce Reduce Reduce_scatter Reduce_scatter_block Scan Exscan Bcast Gather Gatherv Scatter Scatterv
Allgather Allgatherv Alltoall Alltoallv Alltoallw Barrier Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall
Neighbor_alltoallv Neighbor_alltoallw""".split()

# Make an intra-communicator, which tutti is told of. Inter-communicators pass: those of PASSING.
MAKERS = """Comm_dup Comm_dup_with_info Comm_create Comm_create_group Comm_split Comm_split_type Cart_create Cart_sub
Graph_create Dist_graph_create Dist_graph_create_adjacent Intercomm_merge""".split()
# All ranks of the first argument are in the call, but for this one.
MADE_BY_PART = "Comm_create_group"
# The same, without a parent.
SESSION_MAKERS = ["Comm_create_from_group"]
LATE_MAKERS = "Comm_idup Comm_idup_with_info".split()

# May block, and have no form that does not: what is outstanding moves on meanwhile.
PASSING = """Comm_free Comm_disconnect Comm_spawn Comm_spawn_multiple Comm_accept Comm_connect Comm_join Comm_set_info
Intercomm_create Intercomm_create_from_groups Buffer_detach Buffer_flush Comm_detach_buffer
Comm_flush_buffer Session_detach_buffer Session_flush_buffer
Win_create Win_create_dynamic Win_allocate Win_allocate_shared Win_free Win_set_info Win_fence Win_start Win_complete
Win_post Win_wait Win_lock Win_lock_all Win_unlock Win_unlock_all Win_flush Win_flush_all Win_flush_local
Win_flush_local_all
File_open File_close File_set_size File_preallocate File_set_info File_set_view File_set_atomicity File_seek_shared
File_sync File_read File_read_all File_read_all_begin File_read_all_end File_read_at File_read_at_all
File_read_at_all_begin File_read_at_all_end File_read_ordered File_read_ordered_begin File_read_ordered_end
File_read_shared File_write File_write_all File_write_all_begin File_write_all_end File_write_at File_write_at_all
File_write_at_all_begin File_write_at_all_end File_write_ordered File_write_ordered_begin File_write_ordered_end
File_write_shared""".split()

# Ask whether something is done: what is outstanding moves on first.
ASKING = "Win_test Parrived".split()
ASKING_SEVERAL = "Request_get_status_all Request_get_status_any Request_get_status_some".split()

# Written by hand in C, so that only their Fortran forms are made here.
BY_HAND = """Init Init_thread Query_thread Finalize Wait Waitall Waitany Waitsome Test Testall Testany Testsome
Request_get_status Request_free Start Startall Cancel Send Ssend Rsend Recv Sendrecv Sendrecv_replace Probe Iprobe Mprobe
Improbe Mrecv Op_free""".split()

# What else takes a communicator, request, window, file or session, by the reason why tutti does not stand in front of it.
# * is any text. tests/mpi/functions_test.py reads all headers by this.
LEFT_ALONE = {
    "waits for no other rank": """MPI_Abort MPI_Attr_* MPI_Bsend MPI_Cart_coords MPI_Cart_get MPI_Cart_map MPI_Cart_rank
        MPI_Cart_shift MPI_Cartdim_get MPI_Comm_attach_buffer MPI_Comm_c2f
        MPI_Comm_call_errhandler MPI_Comm_compare MPI_Comm_delete_attr MPI_Comm_get_* MPI_Comm_group MPI_Comm_rank
        MPI_Comm_remote_* MPI_Comm_set_attr MPI_Comm_set_errhandler MPI_Comm_set_name MPI_Comm_size MPI_Comm_test_inter
        MPI_Dist_graph_neighbors* MPI_Errhandler_* MPI_File_c2f MPI_File_call_errhandler MPI_File_get_* MPI_File_seek
        MPI_File_set_errhandler MPI_Graph_get MPI_Graph_map MPI_Graph_neighbors* MPI_Graphdims_get MPI_Grequest_complete
        MPI_Group_from_session_pset MPI_Message_c2f MPI_Pack MPI_Pack_size MPI_Pready* MPI_Request_c2f
        MPI_Session_attach_buffer MPI_Session_c2f MPI_Session_call_errhandler MPI_Session_create_errhandler MPI_Session_get_*
        MPI_Session_set_* MPI_T_* MPI_Topo_test MPI_Unpack MPI_Win_attach MPI_Win_c2f MPI_Win_call_errhandler
        MPI_Win_delete_attr MPI_Win_detach MPI_Win_get_* MPI_Win_set_attr MPI_Win_set_errhandler MPI_Win_set_name
        MPI_Win_shared_query MPI_Win_sync MPIX_Comm_get_stream MPIX_Comm_test_threadcomm""",
    "a session is MPI's; tutti sees what is made of it": "MPI_Session_init MPI_Session_finalize",
    "only starts what another call waits for": """MPI_Ibsend MPI_Imrecv MPI_Irecv MPI_Irsend MPI_Isend MPI_Isendrecv
        MPI_Isendrecv_replace MPI_Issend MPI_Bsend_init MPI_Recv_init MPI_Rsend_init MPI_Send_init MPI_Ssend_init
        MPI_Precv_init MPI_Psend_init MPI_Grequest_start MPIX_Grequest_* MPI_Buffer_iflush MPI_Comm_iflush_buffer
        MPI_Session_iflush_buffer MPI_File_iread* MPI_File_iwrite* MPI_Accumulate MPI_Compare_and_swap MPI_Fetch_and_op MPI_Get
        MPI_Get_accumulate MPI_Put MPI_Raccumulate MPI_Rget MPI_Rget_accumulate MPI_Rput""",
    "goes on after ranks have died, as tutti does not": """MPIX_Comm_ack_failed MPIX_Comm_agree MPIX_Comm_failure_*
        MPIX_Comm_get_failed MPIX_Comm_iagree MPIX_Comm_is_revoked MPIX_Comm_revoke MPIX_Comm_shrink""",
    "belongs to streams and thread communicators of MPICH, which tutti does not know": "MPIX_Stream_* MPIX_*_enqueue MPIX_Threadcomm_*",
}


@dataclasses.dataclass
class Parameter:
    text: str  # "const int counts[]"

    def __post_init__(self):
        match = re.fullmatch(r"(.*?)(\w+)\s*((?:\[\w*\])*)", self.text)
        self.type, self.name, self.array = match[1].strip(), match[2], bool(match[3])


@dataclasses.dataclass
class Function:
    name: str
    parameters: list

    @property
    def names(self):
        return [parameter.name for parameter in self.parameters]

    @property
    def declaration(self):
        return f"int {self.name}({', '.join(parameter.text for parameter in self.parameters) or 'void'})"

    def call(self, prefix=""):
        return f"{prefix}{self.name}({', '.join(self.names)})"


def parent(maker):
    """The communicator all of whose ranks are in the call."""
    return "MPI_COMM_NULL" if maker.name == f"MPI_{MADE_BY_PART}" else maker.names[0]


def topology(maker, parent):
    """The topology of what is made, if MPI says that it has one."""
    for kind, name in (("MPI_CART", "Cart"), ("MPI_DIST_GRAPH", "Dist_graph"), ("MPI_GRAPH", "Graph")):
        if maker.name.startswith(f"MPI_{name}_"):
            return kind
    return f"tt_mpi_topology({parent})"


@dataclasses.dataclass
class Header:
    """All functions of an MPI, by name."""
    functions: dict
    open_mpi: bool

    @staticmethod
    def read(compiler):
        source = "#include <mpi.h>\n#if __has_include(<mpi-ext.h>)\n#include <mpi-ext.h>\n#endif\n"
        text = subprocess.run([compiler, "-E", "-P", "-x", "c", "-"], input=source, check=True, stdout=subprocess.PIPE,
                              text=True).stdout
        found = {}
        for name, inside in re.findall(r"\bint\s+(MPIX?_[A-Z]\w+)\s*\(([^().]*)\)", text):
            parts = [" ".join(part.split()) for part in inside.split(",")]
            found[name] = Function(name, [Parameter(part) for part in parts if part != "void"])
        return Header(found, "ompi_" in text)

    def sized(self, names):
        """Those of the names that there are, each with its form for large counts."""
        candidates = [f"MPI_{name}{large}" for name in names for large in ("", "_c")]
        return [self.functions[name] for name in candidates if name in self.functions]

    def forms(self, collective):
        """(blocking, nonblocking or persistent, function)"""
        lower = collective[0].lower() + collective[1:]
        rows = [("blocking", f"MPI_{collective}"), ("nonblocking", f"MPI_I{lower}"),
                ("persistent", f"MPI_{collective}_init"), ("persistent", f"MPIX_{collective}_init")]
        return [(kind, self.functions[name + large]) for kind, name in rows for large in ("", "_c")
                if name + large in self.functions]

    def all(self):
        """Every function that tutti stands in front of."""
        collectives = [function for name in COLLECTIVES for _, function in self.forms(name)]
        return collectives + self.sized(MAKERS + SESSION_MAKERS + LATE_MAKERS + PASSING + ASKING + ASKING_SEVERAL + BY_HAND)
