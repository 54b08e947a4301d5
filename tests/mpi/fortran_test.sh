# Fortran programs by mpif.h, `use mpi` and `use mpi_f08`: everything right, and every collective on tutti. Or in the MPI's
# own entry point, where tutti does not serve it and its request keeps arrays.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"

folder=$TUTTI_SOURCE/tests/mpi/fortran

# Whether persistent collectives are an extension of this MPI, as tests/mpi/persistent.h says.
is_extension() {
  "mpicc.$1" -E -dM "$TUTTI_SOURCE/tests/mpi/persistent.h" | grep -q "define MPI_Allreduce_init "
}

cc -D_GNU_SOURCE -O1 -shared -fPIC -o "$work/own.so" -x c - <<'END'
#include <dlfcn.h>
#include <stdio.h>
typedef void entry(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *);
void pmpi_ialltoallw_(void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h, void *i, void *j, void *k) {
  puts("in its own entry point");
  ((entry *)dlsym(RTLD_NEXT, "pmpi_ialltoallw_"))(a, b, c, d, e, f, g, h, i, j, k);
}
END

tested=
for mpi in $mpis; do
  command -v "mpifort.$mpi" >/dev/null || continue
  tested=yes
  for interface in HEADER MODULE MODULE_08; do
    program=$work/calls-$interface-$mpi
    "mpifort.$mpi" -w -g -O1 -fallow-argument-mismatch -I"$folder" -J"$work" -D$interface \
      $(! is_extension $mpi || echo -DEXTENSIONS) "$folder/calls.F90" -o "$program"
    for ranks in 1 3 ${long:+2 4}; do
      export TUTTI_STATS=1
      mpi_run $mpi $ranks "$program" >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
      grep -q "^all is well" "$work/said" || { echo "$mpi $interface, $ranks ranks:"; cat "$work/said"; exit 1; }
      grep -q "^ *all .* 100.00%" "$work/said" || { echo "$mpi $interface: not all on tutti"; cat "$work/said"; exit 1; }
    done
    [ $mpi = openmpi ] || continue
    mpi_plain $mpi 2 env TUTTI_MPI=off LD_PRELOAD="${before:-}$work/own.so:$library/libtutti-$mpi.so" "$program" \
      >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }
    grep -q "^in its own entry point" "$work/said" || { echo "$mpi $interface: not there"; cat "$work/said"; exit 1; }
    grep -Eq "^ *alltoallw +4 " "$work/said" || { echo "$mpi $interface: not counted"; cat "$work/said"; exit 1; }
  done
done
[ -n "$tested" ] || { echo "no mpifort"; exit 77; }
