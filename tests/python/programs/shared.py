"""Arrays of others: DLPack, torch's types, and bfloat16 as ml_dtypes has it.

Debian has no ml_dtypes. What numpy sees of its bfloat16 is a type without a letter in the buffer protocol, whose name is
"bfloat16": the stand-in has just that, over memory that holds bits of bfloat16."""

import numpy

import tutti
from expect import fails

comm = tutti.world()
rank, size = comm.rank, comm.size


class Bfloat16Array:
    """As ml_dtypes' arrays: no buffer protocol, no DLPack, a dtype by that name, and view()."""

    class dtype:
        name = "bfloat16"

    def __init__(self, values):
        self.bits = (numpy.asarray(values, "f4").view("u4") >> 16).astype("u2")  # of whole numbers: exact

    def view(self, of):
        return self.bits.view(of)

    @property
    def values(self):
        return (self.bits.astype("u4") << 16).view("f4")



def bfloat16():
    data = Bfloat16Array([rank + 1.0, 2.0, 0.5])
    out = Bfloat16Array([0, 0, 0])
    assert comm.allreduce(data, out=out) is out
    assert out.values.tolist() == [size * (size + 1) / 2, 2.0 * size, 0.5 * size], out.values
    assert comm.allreduce(out, out=out, op="max") is out
    every = Bfloat16Array([0.0] * 3 * size)
    comm.allgather(data, out=every)
    assert every.values.reshape(size, 3)[:, 0].tolist() == [r + 1.0 for r in range(size)]
    part = Bfloat16Array(numpy.zeros(6))
    part.bits = part.bits[::2]  # strided: copied, and copied back
    comm.allreduce(data, out=part)
    assert part.values.tolist() == [size * (size + 1) / 2, 2.0 * size, 0.5 * size]
    try:
        comm.allreduce(data, out=numpy.zeros(3, "f2"))
        raise AssertionError("types that differ are no error")
    except TypeError as error:
        assert "type bfloat16, out of type float16" in str(error), error


class Exported:
    """Of any library that has DLPack and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **named):
        return self.array.__dlpack__(**named)


def dlpack():
    for dtype in ("f2", "f4", "f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "c8", "c16"):
        data = numpy.arange(6).astype(dtype).reshape(2, 3) + rank
        out = numpy.zeros((2, 3), dtype)
        comm.allreduce(Exported(data), out=Exported(out))
        assert numpy.array_equal(out, sum(numpy.arange(6).reshape(2, 3) + r for r in range(size)).astype(dtype)), dtype
    columns = numpy.zeros((3, 2))
    comm.allreduce(Exported(numpy.ones((2, 3)).T), out=Exported(columns.T.T))
    assert (columns == size).all()


def torch_types():
    try:
        import torch
    except ImportError:
        print("no torch here")
        return
    for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.int64, torch.int8, torch.complex64):
        total = comm.allreduce(torch.ones(5, dtype=dtype))
        assert total.dtype == dtype and (total == size).all(), total
    both = comm.allreduce(torch.arange(6.0).reshape(2, 3).T)
    assert torch.equal(both, size * torch.arange(6.0).reshape(2, 3).T)
    negated = torch.ones(3, dtype=torch.complex64).conj().imag
    for call in (lambda: comm.allreduce(negated), lambda: comm.allreduce(torch.ones(3), out=negated)):
        fails(ValueError, "negates when it is read", call)


bfloat16()
dlpack()
torch_types()
print(f"rank {rank} of {size}: all right")
