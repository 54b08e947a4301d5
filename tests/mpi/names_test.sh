# What the interposers export: functions of MPI only, and each of them for Fortran where Fortran does not call it.
set -eu
export LC_ALL=C
. "$TUTTI_SOURCE/tests/support/mpi.sh"

wrong=0
for mpi in $mpis; do
  nm -D --defined-only "$library/libtutti-$mpi.so" | awk '$2 ~ /[A-Z]/ {print $3}' | sort >"$work/names"
  foreign=$(grep -vE '^(MPIX?_[A-Z]|mpix?_|ompix?_.*_f$|__[a-z]+san|_?_odr_asan)' "$work/names" || true)
  [ -z "$foreign" ] || { echo "$mpi: other names leave: $foreign"; wrong=1; }
  missing=$(nm -D --undefined-only "$library/libtutti-$mpi.so" | awk '$2 ~ /^(tt_|tutti_)/ {print $2}')
  [ -z "$missing" ] || { echo "$mpi: not there: $missing"; wrong=1; }
  grep -E '^MPIX?_[A-Z][a-z]' "$work/names" | tr '[:upper:]' '[:lower:]' >"$work/functions"
  : >"$work/missing"
  case $mpi in
  openmpi)
    grep -qx ompi_barrier_f "$work/names" || continue # without Fortran
    sed 's/.*/&_/; p; s/.*/o&f/' "$work/functions" | sort | comm -23 - "$work/names" >"$work/missing" ;;
  mpich)
    fortran=$(ldconfig -p | awk '/libmpichfort.so/ {print $NF; exit}')
    [ -n "$fortran" ] || continue
    nm -D --defined-only "$fortran" | awk '{print $3}' | sort >"$work/theirs"
    sed 's/.*/&_f08_/' "$work/functions" | sort | comm -12 - "$work/theirs" | comm -23 - "$work/names" >"$work/missing" ;;
  esac
  [ ! -s "$work/missing" ] || { echo "$mpi: not for Fortran: $(cat "$work/missing")"; wrong=1; }
done
exit $wrong
