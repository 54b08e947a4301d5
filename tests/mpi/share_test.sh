# A program of MPI uses tutti in the job that its calls run on: both move each other on, whatever the level of its threads.
# Where there is no such job it is told so.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"
mpi_launchers

# right ARGUMENTS...: of tutti mpirun
right() {
  LD_PRELOAD=$preload timeout -k 5 120 "$TUTTI_BIN/tutti" mpirun --mpi $mpi -n 3 "$@" >"$work/said" 2>&1 &&
    [ "$(grep -o 'all right' "$work/said" | wc -l)" = 3 ] || { echo "$mpi: $*"; cat "$work/said"; exit 1; }
}

for mpi in $mpis; do
  "mpicc.$mpi" -std=gnu11 -D_GNU_SOURCE -O1 -g -w -o "$work/share" "$TUTTI_SOURCE/tests/mpi/share.c" \
    -I"$TUTTI_SOURCE/include" -L"$library" -ltutti -Wl,-rpath,"$library" -lpthread
  single=0 serialized=2 multiple=3
  right "$work/share" some $single
  right "$work/share" some $multiple
  right "$work/share" none $serialized
  right sh -c 'exec "$0" none $((1 + (${OMPI_COMM_WORLD_RANK:-$PMI_RANK} == 1)))' "$work/share" # one of them is
  TUTTI_MPI=off right "$work/share" none $single
done
