# What tutti asks of MPI in MPI_Init: the same calls whatever the number of ranks, and few that communicate. How often it
# looks whether those are complete depends on time. Calls that block without leaving the core would take as long as the
# scheduler lets the waiting ranks run, so there are hardly any.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"
export LC_ALL=C

fail() {
  echo "$mpi: $1"
  exit 1
}

for mpi in $mpis; do
  mpi_build $mpi start
  python3 "$TUTTI_SOURCE/tests/mpi/gen_counted.py" mpicc.$mpi "$work/counted.c"
  "mpicc.$mpi" -std=gnu11 -D_GNU_SOURCE -O1 -w -shared -fPIC -o "$work/counted.so" "$work/counted.c"
  for ranks in 2 5 8; do
    mkdir -p "$work/$mpi$ranks"
    mpi_plain $mpi $ranks env LD_PRELOAD="${before:-}$work/counted.so:$library/libtutti-$mpi.so" "$work/start-$mpi" \
      "$work/$mpi$ranks"
    for rank in $(seq 0 $((ranks - 1))); do # the PMPI_Comm_rank of the program itself is in all
      grep -v '^PMPI_Test ' "$work/$mpi$ranks/$rank" | sort >"$work/calls"
      [ -s "$work/calls" ] || fail "rank $rank has counted nothing"
      [ -e "$work/first-$mpi" ] || cp "$work/calls" "$work/first-$mpi"
      diff "$work/first-$mpi" "$work/calls" || fail "rank $rank of $ranks calls more or less than rank 0 of 2"
    done
  done
  many=$(awk '$1 ~ /^PMPI_I?(allgather|allreduce|bcast|barrier|Allgather|Allreduce|Bcast|Barrier|reduce|Reduce|gather|Gather)$/ {n += $2} END {print n}' "$work/first-$mpi")
  [ "$many" -le 10 ] || fail "$many collectives: $(cat "$work/first-$mpi")"
  blocking=$(grep -E '^PMPI_(Allgather|Allreduce|Barrier|Bcast|Comm_split|Comm_split_type|Comm_create) ' "$work/first-$mpi" || true)
  [ -z "$blocking" ] || fail "blocks in $blocking"
done
