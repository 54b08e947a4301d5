! tests/mpi/programs/fourier.f90 - a two-dimensional Fourier transform of n x n points.
!
! Each rank holds columns; rows are transformed after a transpose, by MPI_Alltoallw with subarrays or, where all ranks have
! as many columns, by MPI_Alltoall: both have to give the same bits. The spectrum goes to rank 0 by MPI_Gatherv; an
! operator in Fortran finds its largest value. What is printed does not depend on the order of sums.
module transform
  use mpi
  implicit none
  integer, parameter :: wide = kind(1d0)
  real(wide), parameter :: pi = acos(-1d0)
  integer :: rank, ranks, ierror

  type layout ! of columns over ranks, from 0
    integer, allocatable :: first(:), count(:)
  end type
contains
  function divide(n, parts) result(columns)
    integer, intent(in) :: n, parts
    type(layout) :: columns
    integer :: part
    columns%count = [(n / parts + merge(1, 0, part < modulo(n, parts)), part = 0, parts - 1)]
    columns%first = [(sum(columns%count(:part)), part = 0, parts - 1)]
  end function

  ! In place; the length of a is a power of two.
  recursive subroutine fourier(a, sign)
    complex(wide), intent(inout) :: a(0:)
    integer, intent(in) :: sign
    complex(wide) :: even(0:size(a) / 2 - 1), odd(0:size(a) / 2 - 1)
    integer :: n, k
    n = size(a)
    if (n == 1) return
    even = a(0::2)
    odd = a(1::2)
    call fourier(even, sign)
    call fourier(odd, sign)
    do k = 0, n / 2 - 1
      odd(k) = odd(k) * exp(cmplx(0, sign * 2 * pi * k / n, wide))
    end do
    a(:n / 2 - 1) = even + odd
    a(n / 2:) = even - odd
  end subroutine

  subroutine columns_by(a, sign)
    complex(wide), intent(inout) :: a(:, :)
    integer, intent(in) :: sign
    integer :: column
    do column = 1, size(a, 2)
      call fourier(a(:, column), sign)
    end do
  end subroutine

  ! As many columns on each rank.
  subroutine transpose_even(a)
    complex(wide), intent(inout) :: a(:, :)
    complex(wide) :: blocks(size(a, 2), size(a, 2), ranks), arrived(size(a, 2), size(a, 2), ranks)
    integer :: part, width
    width = size(a, 2)
    do part = 1, ranks
      blocks(:, :, part) = transpose(a((part - 1) * width + 1:part * width, :))
    end do
    call MPI_Alltoall(blocks, width**2, MPI_DOUBLE_COMPLEX, arrived, width**2, MPI_DOUBLE_COMPLEX, MPI_COMM_WORLD, ierror)
    do part = 1, ranks
      a((part - 1) * width + 1:part * width, :) = arrived(:, :, part)
    end do
  end subroutine

  ! Sends rows as subarrays and receives them as columns of vectors.
  subroutine transpose_uneven(a, columns)
    complex(wide), intent(inout) :: a(:, :)
    type(layout), intent(in) :: columns
    complex(wide) :: arrived(size(a, 1), size(a, 2))
    integer :: part, ones(ranks), zeros(ranks), offsets(ranks), rows(ranks), turned(ranks), element, n, mine
    n = size(a, 1)
    mine = columns%count(rank + 1)
    ones = 1
    zeros = 0
    call MPI_Type_size(MPI_DOUBLE_COMPLEX, element, ierror)
    do part = 1, ranks
      call MPI_Type_create_subarray(2, [n, mine], [columns%count(part), mine], [columns%first(part), 0], &
        MPI_ORDER_FORTRAN, MPI_DOUBLE_COMPLEX, rows(part), ierror)
      call MPI_Type_commit(rows(part), ierror)
      turned(part) = turned_block(n, columns%count(part), mine, element)
      offsets(part) = columns%first(part) * element
    end do
    call MPI_Alltoallw(a, ones, zeros, rows, arrived, ones, offsets, turned, MPI_COMM_WORLD, ierror)
    a = arrived
    do part = 1, ranks
      call MPI_Type_free(rows(part), ierror)
      call MPI_Type_free(turned(part), ierror)
    end do
  end subroutine

  ! A block of height x width elements in columns of n, row by row: the order in which it is sent.
  integer function turned_block(n, height, width, element) result(block)
    integer, intent(in) :: n, height, width, element
    integer :: row, narrow
    integer(MPI_ADDRESS_KIND) :: step
    step = element
    call MPI_Type_vector(width, 1, n, MPI_DOUBLE_COMPLEX, row, ierror)
    call MPI_Type_create_resized(row, 0_MPI_ADDRESS_KIND, step, narrow, ierror)
    call MPI_Type_contiguous(height, narrow, block, ierror)
    call MPI_Type_commit(block, ierror)
    call MPI_Type_free(row, ierror)
    call MPI_Type_free(narrow, ierror)
  end function

  ! The operator: of (value, place) the larger value, of equal ones the lower place.
  subroutine larger(in, inout, length, type)
    integer :: length, type, n
    real(wide) :: in(2, length), inout(2, length)
    do n = 1, length
      if (in(1, n) > inout(1, n) .or. (in(1, n) == inout(1, n) .and. in(2, n) < inout(2, n))) inout(:, n) = in(:, n)
    end do
  end subroutine

  function largest(a, columns) result(found)
    complex(wide), intent(in) :: a(:, :)
    type(layout), intent(in) :: columns
    real(wide) :: found(2), mine(2)
    integer :: op, pair, at(2)
    mine = [-1d0, 0d0]
    if (size(a, 2) > 0) then
      at = maxloc(abs(a))
      mine = [abs(a(at(1), at(2))), real((columns%first(rank + 1) + at(2) - 1) * size(a, 1) + at(1) - 1, wide)]
    end if
    call MPI_Op_create(larger, .true., op, ierror)
    call MPI_Type_contiguous(2, MPI_DOUBLE_PRECISION, pair, ierror)
    call MPI_Type_commit(pair, ierror)
    call MPI_Allreduce(mine, found, 1, pair, op, MPI_COMM_WORLD, ierror)
    call MPI_Type_free(pair, ierror)
    call MPI_Op_free(op, ierror)
  end function

  ! All columns on rank 0; elsewhere the result has none.
  function gathered(a, columns) result(all)
    complex(wide), intent(in) :: a(:, :)
    type(layout), intent(in) :: columns
    complex(wide), allocatable :: all(:, :)
    integer :: n
    n = size(a, 1)
    allocate (all(n, merge(sum(columns%count), 0, rank == 0)))
    call MPI_Gatherv(a, size(a), MPI_DOUBLE_COMPLEX, all, columns%count * n, columns%first * n, MPI_DOUBLE_COMPLEX, 0, &
      MPI_COMM_WORLD, ierror)
  end function
end module

program main
  use transform
  implicit none
  integer, parameter :: n = 64
  type(layout) :: columns
  complex(wide), allocatable :: first(:, :), a(:, :), even(:, :), spectrum(:, :)
  real(wide) :: peak(2), off, worst
  real(wide), asynchronous :: energy(2) ! gfortran 14 reads it before MPI_Wait otherwise
  integer :: round, request, row, column, rounds
  logical :: good

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  rounds = merge(20, 0, rank == 0)
  call MPI_Bcast(rounds, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  columns = divide(n, ranks)
  allocate (first(n, columns%count(rank + 1)))
  do column = 1, size(first, 2)
    do row = 1, n
      first(row, column) = cos(2 * pi * (3 * row + 5 * (column + columns%first(rank + 1))) / n) &
        + 0.25d0 * sin(0.01d0 * row * (column + columns%first(rank + 1)))
    end do
  end do

  a = first
  do round = 1, rounds ! forth and back
    call columns_by(a, -1)
    call transpose_uneven(a, columns)
    call columns_by(a, -1)
    energy(1) = sum(abs(a)**2) / n**2
    call MPI_Iallreduce(MPI_IN_PLACE, energy, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, ierror)
    if (round == 1) then
      peak = largest(a, columns)
      spectrum = gathered(a, columns)
    end if
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call columns_by(a, 1)
    call transpose_uneven(a, columns)
    call columns_by(a, 1)
    a = a / n**2
  end do
  off = maxval([0d0, maxval(abs(a - first))])
  call MPI_Reduce(off, worst, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, ierror)

  energy(2) = sum(abs(first)**2)
  call MPI_Allreduce(MPI_IN_PLACE, energy(2), 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  good = .true.
  if (rank == 0) then
    good = worst < 1d-12 .and. abs(energy(1) / energy(2) - 1) < 1d-10
    print '(i0, a, i0, a, l1)', rounds, ' times forth and back on ', ranks, ' ranks, the first again: ', good
    print '(a, i0, a, z16)', 'largest at ', nint(peak(2)), ': ', peak(1)
    print '(a, z16, z16)', 'sum of the spectrum: ', sum(spectrum * reshape([(row, row = 1, n**2)], [n, n]))
  end if
  if (modulo(n, ranks) == 0) then
    even = first
    call columns_by(even, -1)
    call transpose_even(even)
    call columns_by(even, -1)
    even = gathered(even, columns)
    good = good .and. all(even == spectrum)
  end if
  call MPI_Finalize(ierror)
  if (.not. good) error stop 'wrong'
end program
