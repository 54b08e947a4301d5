# Requests of collective calls: with messages in one wait, while blocking calls wait, from threads, and when they fail;
# persistent ones that each rank starts in an order of its own; where no thread can be made.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"

# One-sided calls of Debian's MPICH put nothing anywhere where UCX remembers memory that it has registered.
export UCX_RCACHE_ENABLE=n

rounds=200
[ -z "$long" ] || rounds=1000

for mpi in $mpis; do
  for program in request_calls request_threads request_errors request_orders; do
    mpi_build $mpi $program
  done
  for ranks in 1 2 3; do
    mpi_run $mpi $ranks "$work/request_calls-$mpi"
  done
  for ranks in 2 3; do
    mpi_run $mpi $ranks "$work/request_threads-$mpi" 10
    MALLOC_PERTURB_=90 mpi_run $mpi $ranks "$work/request_errors-$mpi" # what is freed is not used
  done
  orders=$work/request_orders-$mpi
  mpi_run $mpi 5 "$orders" $rounds
  mpi_run $mpi 2 "$orders" 20
  TUTTI_NODES=2,3 mpi_run $mpi 5 "$orders" 20
  TUTTI_PROGRESS=thread mpi_run $mpi 3 "$orders" 20
  # where there is no thread to be had, each rank that needs one says so once
  "mpicc.$mpi" -std=gnu11 -D_GNU_SOURCE -w -rdynamic -o "$work/no_thread" "$TUTTI_SOURCE/tests/mpi/no_thread.c"
  mpi_run $mpi 2 "$work/no_thread" 2>"$work/said" || { cat "$work/said" && exit 1; }
  said=$(grep -c 'no helper thread (Resource temporarily unavailable)' "$work/said" || true)
  [ $said = 1 ] || [ $said = 2 ] || { cat "$work/said" && exit 1; }
done

# Ranks of several machines, of which the launcher does not tell: MPI gives no thread more than the program wants, and
# tutti moves works on beside MPI without it. Process namespaces are machines to tutti.
case $mpis in *mpich*) ;; *) exit 0 ;; esac
unshare --pid --fork true 2>/dev/null || { echo "not permitted: process namespaces"; exit 0; }
UCX_TLS=tcp,self UCX_NET_DEVICES=lo mpi_run mpich 2 env -u MPI_LOCALNRANKS unshare --pid --fork \
  "$work/request_calls-mpich" 2>"$work/said" || { cat "$work/said" && exit 1; }
grep -q 'TUTTI_MPI_TRANSPORT=tcp' "$work/said"
