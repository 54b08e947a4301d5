! Calls MPI from Fortran in all the ways that an interposer could get wrong: special addresses, handles, arrays of
! handles, statuses, logicals, indices from 1, operators in Fortran, types. Each rank computes what must come out.
#include "interface.F90inc"

module checks
  implicit none
  integer :: rank, ranks, failures = 0
contains
  subroutine check(good, what)
    logical, intent(in) :: good
    character(*), intent(in) :: what
    if (good) return
    failures = failures + 1
    print '(a, i0, 2a)', 'rank ', rank, ': wrong: ', what
  end subroutine

  pure integer function sum_to(n)
    integer, intent(in) :: n
    sum_to = n * (n + 1) / 2
  end function

#ifdef MODULE_08
  subroutine combine(in, inout, length, type)
    use mpi_f08
    use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: in, inout
    integer :: length
    type(MPI_Datatype) :: type
    integer, pointer :: a(:), b(:)
    call c_f_pointer(in, a, [2 * length])
    call c_f_pointer(inout, b, [2 * length])
    call affine(a, b, length)
  end subroutine
#else
  subroutine combine(a, b, length, type)
    integer :: length, type, a(2 * length), b(2 * length)
    call affine(a, b, length)
  end subroutine
#endif

  ! x -> p x + q, one after the other: associative, not commutative.
  subroutine affine(a, b, length)
    integer, intent(in) :: length, a(2 * length)
    integer, intent(inout) :: b(2 * length)
    integer :: n
    do n = 1, 2 * length, 2
      b(n + 1) = modulo(b(n) * a(n + 1) + b(n + 1), 10007)
      b(n) = modulo(b(n) * a(n), 10007)
    end do
  end subroutine
end module

program calls
  use checks
  MPI_INTERFACE
  implicit none
#ifdef HEADER
  include 'mpif.h'
#endif
#if defined(EXTENSIONS) && defined(HEADER)
  include 'mpif-ext.h'
#endif
  integer :: error, first
  COMM :: world

  call MPI_Init(error)
  world = MPI_COMM_WORLD
  call MPI_Comm_rank(world, rank, error)
  call MPI_Comm_size(world, ranks, error)
  call find_first
  call test_moved
  call test_in_place
  call test_types
  call test_bottom
  call test_sections
  call test_lists
  call test_operators
  call test_waitall
  call test_waitany
  call test_some
  call test_flags
  call test_while_outstanding
  call test_communicators
  call test_grid
  call test_persistent
  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, world, error)
  if (rank == 0 .and. failures == 0) print '(a)', 'all is well'
  call MPI_Finalize(error)
  if (failures > 0) stop 1

contains

  ! Indices count from 1, but from 0 in the module mpi_f08 of MPICH 4.0.
  subroutine find_first
    REQUEST :: requests(1)
    call MPI_Irecv(first, 0, MPI_INTEGER, MPI_PROC_NULL, 0, world, requests(1), error)
    call MPI_Waitany(1, requests, first, MPI_STATUS_IGNORE, error)
  end subroutine

  subroutine test_moved
    integer :: mine(3), every(3 * ranks), other(3 * ranks), n
    mine = [rank, rank + 100, rank + 200]
    call MPI_Allgather(mine, 3, MPI_INTEGER, every, 3, MPI_INTEGER, world, error)
    call check(error == MPI_SUCCESS .and. every(3 * ranks) == ranks + 199, 'allgather')
    call MPI_Gather(mine, 3, MPI_INTEGER, other, 3, MPI_INTEGER, ranks - 1, world, error)
    if (rank == ranks - 1) call check(all(other == every), 'gather')
    call MPI_Scatter(every, 3, MPI_INTEGER, mine, 3, MPI_INTEGER, 0, world, error)
    call check(mine(2) == rank + 100, 'scatter')
    call MPI_Alltoall([(rank * 1000 + n, n = 0, ranks - 1)], 1, MPI_INTEGER, other, 1, MPI_INTEGER, world, error)
    call check(all(other(:ranks) == [(n * 1000 + rank, n = 0, ranks - 1)]), 'alltoall')
    mine = merge([7, 8, 9], [0, 0, 0], rank == 0)
    call MPI_Bcast(mine, 3, MPI_INTEGER, 0, world, error)
    call check(all(mine == [7, 8, 9]), 'bcast')
    call MPI_Barrier(world, error)
    call check(error == MPI_SUCCESS, 'barrier')
  end subroutine

  subroutine test_in_place
    double precision :: sums(1000)
    integer :: blocks(2 * ranks), n
    sums = rank
    call MPI_Allreduce(MPI_IN_PLACE, sums, 1000, MPI_DOUBLE_PRECISION, MPI_SUM, world, error)
    call check(all(sums == sum_to(ranks - 1)), 'allreduce in place')
    sums = rank + 1
    if (rank == 0) then
      call MPI_Reduce(MPI_IN_PLACE, sums, 1000, MPI_DOUBLE_PRECISION, MPI_MAX, 0, world, error)
      call check(all(sums == ranks), 'reduce in place')
    else
      call MPI_Reduce(sums, sums, 1000, MPI_DOUBLE_PRECISION, MPI_MAX, 0, world, error)
    end if
    blocks = -1
    blocks(2 * rank + 1:2 * rank + 2) = [rank, -rank]
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks, 2, MPI_INTEGER, world, error)
    call check(all(blocks(1::2) == [(n, n = 0, ranks - 1)]), 'allgather in place')
    if (rank == 0) then
      call MPI_Scatter(blocks, 2, MPI_INTEGER, MPI_IN_PLACE, 2, MPI_INTEGER, 0, world, error)
    else
      call MPI_Scatter(blocks, 2, MPI_INTEGER, blocks, 2, MPI_INTEGER, 0, world, error)
      call check(all(blocks(:2) == [rank, -rank]), 'scatter in place')
    end if
    n = rank + 1
    call MPI_Scan(MPI_IN_PLACE, n, 1, MPI_INTEGER, MPI_SUM, world, error)
    call check(n == sum_to(rank + 1), 'scan in place')
  end subroutine

  subroutine test_types
    complex :: z
    logical :: yes
    character(5) :: text
    integer :: pair(2)
    z = cmplx(rank, 1)
    call MPI_Allreduce(MPI_IN_PLACE, z, 1, MPI_COMPLEX, MPI_SUM, world, error)
    call check(z == cmplx(sum_to(ranks - 1), ranks), 'complex')
    call MPI_Allreduce(rank == 0, yes, 1, MPI_LOGICAL, MPI_LAND, world, error)
    call check(yes .eqv. ranks == 1, 'logical')
    text = merge('tutti', '     ', rank == ranks - 1)
    call MPI_Bcast(text, 5, MPI_CHARACTER, ranks - 1, world, error)
    call check(text == 'tutti', 'character')
    call MPI_Allreduce([modulo(rank + 1, ranks), rank], pair, 1, MPI_2INTEGER, MPI_MAXLOC, world, error)
    call check(all(pair == [ranks - 1, max(0, ranks - 2)]), 'maxloc')
  end subroutine

  subroutine test_bottom
    integer(MPI_ADDRESS_KIND) :: address(2)
    integer, asynchronous :: a(4), b(3)
    DATATYPE :: type
    a = merge(5, 0, rank == 0)
    b = merge(6, 0, rank == 0)
    call MPI_Get_address(a, address(1), error)
    call MPI_Get_address(b, address(2), error)
    call MPI_Type_create_hindexed(2, [4, 3], address, MPI_INTEGER, type, error)
    call MPI_Type_commit(type, error)
    call MPI_Bcast(MPI_BOTTOM, 1, type, 0, world, error)
    call MPI_Type_free(type, error)
    call check(all(a == 5) .and. all(b == 6), 'bcast from bottom')
  end subroutine

  ! Every second element: a copy that the compiler makes, or a descriptor that MPI understands.
  subroutine test_sections
    integer :: values(20)
    values = merge(3, -1, rank == 0)
    call MPI_Bcast(values(1:20:2), 10, MPI_INTEGER, 0, world, error)
    call check(all(values(1::2) == 3) .and. all(values(2::2) == merge(3, -1, rank == 0)), 'section')
  end subroutine

  subroutine test_lists
    integer :: counts(ranks), offsets(ranks), bytes(ranks), mine(ranks), got(sum_to(ranks)), back(ranks), n
    DATATYPE :: types(ranks)
    REQUEST :: request
    counts = [(n, n = 1, ranks)]
    offsets = [(sum_to(n - 1), n = 1, ranks)]
    mine = rank
    call MPI_Allgatherv(mine, rank + 1, MPI_INTEGER, got, counts, offsets, MPI_INTEGER, world, error)
    call check(all(got == [(spread(n, 1, n + 1), n = 0, ranks - 1)]), 'allgatherv')
    mine = [(rank * 100 + n, n = 0, ranks - 1)]
    types = MPI_INTEGER
    bytes = [(4 * n, n = 0, ranks - 1)]
    counts = 1
    call MPI_Alltoallw(mine, counts, bytes, types, back, counts, bytes, types, world, error)
    call check(all(back == [(n * 100 + rank, n = 0, ranks - 1)]), 'alltoallw')
    back = -1
    call MPI_Ialltoallw(mine, counts, bytes, types, back, counts, bytes, types, world, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call check(all(back == [(n * 100 + rank, n = 0, ranks - 1)]), 'ialltoallw')
  end subroutine

  subroutine test_operators
    OPERATOR :: op
    DATATYPE :: pair
    integer :: mine(2), out(2), expected(2), n
    call MPI_Type_contiguous(2, MPI_INTEGER, pair, error)
    call MPI_Type_commit(pair, error)
    call MPI_Op_create(combine, .false., op, error)
    mine = [rank + 2, rank + 5]
    call MPI_Allreduce(mine, out, 1, pair, op, world, error)
    expected = [2, 5]
    do n = 1, ranks - 1
      mine = [n + 2, n + 5]
      call affine(expected, mine, 1)
      expected = mine
    end do
    call check(all(out == expected), 'operator in Fortran')
    call MPI_Op_free(op, error)
    call MPI_Type_free(pair, error)
    call check(op == MPI_OP_NULL .and. pair == MPI_DATATYPE_NULL, 'freed handles are null')
  end subroutine

  subroutine ring(send, receive, tag, requests)
    integer, asynchronous :: send, receive
    integer, intent(in) :: tag
    REQUEST :: requests(2)
    call MPI_Irecv(receive, 1, MPI_INTEGER, modulo(rank - 1, ranks), tag, world, requests(1), error)
    call MPI_Isend(send, 1, MPI_INTEGER, modulo(rank + 1, ranks), tag, world, requests(2), error)
  end subroutine

  subroutine test_waitall
    REQUEST :: requests(5)
    STATUSES(statuses, 5)
    integer, asynchronous :: send, receive, total, root_says
    send = rank
    root_says = merge(42, 0, rank == 0)
    call MPI_Iallreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, world, requests(1), error)
    call ring(send, receive, 9, requests(2:3))
    call MPI_Ibcast(root_says, 1, MPI_INTEGER, 0, world, requests(4), error)
    requests(5) = MPI_REQUEST_NULL
    call MPI_Waitall(5, requests, statuses, error)
    call check(error == MPI_SUCCESS .and. total == sum_to(ranks - 1) .and. root_says == 42, 'waitall: collectives')
    call check(receive == modulo(rank - 1, ranks), 'waitall: message')
    call check(SOURCE_AT(statuses, 2) == modulo(rank - 1, ranks), 'waitall: status')
    call check(requests(1) == MPI_REQUEST_NULL .and. requests(4) == MPI_REQUEST_NULL, 'waitall: null requests')
    call MPI_Iallreduce(rank, total, 1, MPI_INTEGER, MPI_MAX, world, requests(1), error)
    call ring(send, receive, 10, requests(2:3))
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, error)
    call check(total == ranks - 1, 'waitall without statuses')
  end subroutine

  subroutine test_waitany
    REQUEST :: requests(3)
    STATUS(status)
    integer, asynchronous :: send, receive, total
    integer :: index, turn
    logical :: seen(3)
    send = 3 * rank
    seen = .false.
    call ring(send, receive, 11, requests(:2))
    call MPI_Iallreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, world, requests(3), error)
    do turn = 1, 3
      call MPI_Waitany(3, requests, index, status, error)
      index = index - first + 1
      call check(index >= 1 .and. index <= 3, 'waitany: index')
      call check(requests(index) == MPI_REQUEST_NULL, 'waitany: null request')
      if (index == 1) call check(TAG_OF(status) == 11 .and. receive == 3 * modulo(rank - 1, ranks), 'waitany: message')
      if (index == 3) call check(total == sum_to(ranks - 1), 'waitany: collective')
      seen(index) = .true.
    end do
    call MPI_Waitany(3, requests, index, MPI_STATUS_IGNORE, error)
    call check(all(seen) .and. index < 0, 'waitany: each once')
  end subroutine

  subroutine test_some
    REQUEST :: requests(4)
    STATUSES(statuses, 4)
    integer, asynchronous :: send, receive, total, most
    integer :: indices(4), done, count, n
    send = rank
    done = 0
    call MPI_Iallreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, world, requests(1), error)
    call ring(send, receive, 12, requests(2:3))
    call MPI_Iallreduce(rank, most, 1, MPI_INTEGER, MPI_MAX, world, requests(4), error)
    do while (done < 10)
      call MPI_Testsome(4, requests, count, indices, statuses, error)
      if (count == MPI_UNDEFINED) exit
      indices = indices - first + 1
      do n = 1, count
        call check(requests(indices(n)) == MPI_REQUEST_NULL, 'testsome: null request')
        if (indices(n) == 2) call check(SOURCE_AT(statuses, n) == modulo(rank - 1, ranks), 'testsome: status')
      end do
      done = done + count
    end do
    call check(done == 4 .and. total == sum_to(ranks - 1) .and. most == ranks - 1, 'testsome: each once')
    call MPI_Iallreduce(rank, total, 1, MPI_INTEGER, MPI_MIN, world, requests(1), error)
    call MPI_Waitsome(4, requests, count, indices, MPI_STATUSES_IGNORE, error)
    call check(count == 1 .and. indices(1) == first .and. total == 0, 'waitsome')
  end subroutine

  subroutine test_flags
    REQUEST :: requests(2)
    STATUS(status)
    integer, asynchronous :: total(2)
    integer :: index
    logical :: flag
    flag = .false.
    call MPI_Iallreduce(rank, total(1), 1, MPI_INTEGER, MPI_SUM, world, requests(1), error)
    do while (.not. flag)
      call MPI_Request_get_status(requests(1), flag, status, error)
    end do
    call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE, error)
    call check(flag .and. total(1) == sum_to(ranks - 1), 'test after request_get_status')
    call MPI_Iallreduce(rank, total(1), 1, MPI_INTEGER, MPI_SUM, world, requests(1), error)
    call MPI_Iallreduce(rank, total(2), 1, MPI_INTEGER, MPI_MAX, world, requests(2), error)
    flag = .false.
    do while (.not. flag)
      call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE, error)
    end do
    call check(total(2) == ranks - 1, 'testall')
    call MPI_Testany(2, requests, index, flag, MPI_STATUS_IGNORE, error)
    call check(flag .and. index < 0, 'testany of nothing')
  end subroutine

  ! Legal: the last rank posts its part only after it has sent the message that the others wait for.
  subroutine test_while_outstanding
    REQUEST :: request
    MESSAGE :: message
    STATUS(status)
    integer, asynchronous :: total
    integer :: word, n
    if (rank < ranks - 1) call MPI_Iallreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, world, request, error)
    if (rank == 0 .and. ranks > 1) then
      call MPI_Probe(ranks - 1, 13, world, status, error)
      call check(SOURCE_OF(status) == ranks - 1, 'probe')
      call MPI_Recv(word, 1, MPI_INTEGER, ranks - 1, 13, world, MPI_STATUS_IGNORE, error)
      call MPI_Mprobe(ranks - 1, 14, world, message, status, error)
      call MPI_Mrecv(n, 1, MPI_INTEGER, message, MPI_STATUS_IGNORE, error)
      call check(word == 77 .and. n == 78, 'recv while a collective is outstanding')
    else if (rank == ranks - 1 .and. ranks > 1) then
      call MPI_Send(77, 1, MPI_INTEGER, 0, 13, world, error)
      call MPI_Ssend(78, 1, MPI_INTEGER, 0, 14, world, error)
    end if
    if (rank == ranks - 1) call MPI_Iallreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, world, request, error)
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, modulo(rank + 1, ranks), 15, word, 1, MPI_INTEGER, &
                      modulo(rank - 1, ranks), 15, world, status, error)
    call check(word == modulo(rank - 1, ranks) .and. TAG_OF(status) == 15, 'sendrecv')
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    call check(total == sum_to(ranks - 1), 'outstanding collective')
  end subroutine

  subroutine test_communicators
    COMM :: half, twin, later
    REQUEST :: request
    integer :: size, total, n
    call MPI_Comm_split(world, modulo(rank, 2), -rank, half, error)
    call MPI_Comm_size(half, size, error)
    call MPI_Allreduce(1, total, 1, MPI_INTEGER, MPI_SUM, half, error)
    call check(total == size, 'allreduce on a split communicator')
    call MPI_Comm_dup(half, twin, error)
    call MPI_Comm_idup(twin, later, request, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    n = rank
    call MPI_Bcast(n, 1, MPI_INTEGER, 0, later, error)
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_MAX, twin, error)
    call check(n == total, 'bcast from the last of a reversed communicator')
    call MPI_Comm_free(later, error)
    call MPI_Comm_free(twin, error)
    call MPI_Comm_free(half, error)
    call check(half == MPI_COMM_NULL, 'freed communicator is null')
    call MPI_Comm_split(world, merge(MPI_UNDEFINED, 1, rank == 0), 0, half, error)
    call check((half == MPI_COMM_NULL) .eqv. rank == 0, 'split into nothing')
    if (rank > 0) call MPI_Comm_free(half, error)
  end subroutine

  ! A line that is closed for an even number of ranks only, so that logicals of both values go through.
  subroutine test_grid
    COMM :: grid, line
    integer :: got(2), left, right, total
    logical :: closed
    got = -1
    closed = modulo(ranks, 2) == 0
    call MPI_Cart_create(world, 2, [ranks, 1], [closed, .false.], .false., grid, error)
    call MPI_Cart_sub(grid, [.true., .false.], line, error)
    call MPI_Cart_shift(line, 0, 1, left, right, error)
    call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, line, error)
    call check(got(1) == merge(-1, left, left == MPI_PROC_NULL), 'left neighbor')
    call check(got(2) == merge(-1, right, right == MPI_PROC_NULL), 'right neighbor')
    call check((left == MPI_PROC_NULL) .eqv. (rank == 0 .and. .not. closed), 'periods')
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, line, error)
    call check(total == sum_to(ranks - 1), 'allreduce on a grid')
    call MPI_Comm_free(line, error)
    call MPI_Comm_free(grid, error)
  end subroutine

  subroutine test_persistent
    REQUEST :: requests(2)
    integer, asynchronous :: send, receive
    integer :: turn
    call MPI_Recv_init(receive, 1, MPI_INTEGER, modulo(rank - 1, ranks), 16, world, requests(1), error)
    call MPI_Send_init(send, 1, MPI_INTEGER, modulo(rank + 1, ranks), 16, world, requests(2), error)
    do turn = 1, 3
      send = rank + turn
      call MPI_Startall(2, requests, error)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
      call check(receive == modulo(rank - 1, ranks) + turn, 'persistent messages')
    end do
    call MPI_Request_free(requests(1), error)
    call MPI_Request_free(requests(2), error)
    call check(requests(1) == MPI_REQUEST_NULL, 'freed request is null')
    call test_persistent_collective
  end subroutine

  subroutine test_persistent_collective
    REQUEST :: request
    integer, asynchronous :: value, total
    integer :: turn
#ifdef EXTENSIONS
    external :: MPIX_Allreduce_init
    call MPIX_Allreduce_init(value, total, 1, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, request, error)
#else
    call MPI_Allreduce_init(value, total, 1, MPI_INTEGER, MPI_SUM, world, MPI_INFO_NULL, request, error)
#endif
    do turn = 1, 3
      value = rank * turn
      call MPI_Start(request, error)
      call MPI_Wait(request, MPI_STATUS_IGNORE, error)
      call check(total == turn * sum_to(ranks - 1), 'persistent allreduce')
    end do
    call MPI_Request_free(request, error)
  end subroutine
end program
