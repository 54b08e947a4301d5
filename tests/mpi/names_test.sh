# What stands in front of MPI, in two halves: what they export, which is functions of MPI only, each of them for Fortran
# where Fortran does not call it, the same in both. The half that is preloaded is in every process that a rank starts, so
# it needs nothing and does nothing there.
set -eu
export LC_ALL=C
. "$TUTTI_SOURCE/tests/support/mpi.sh"

wrong=0
complain() {
  echo "$mpi: $1"
  wrong=1
}

# exported FILE: to $work/names; of MPI only. That no allocator is among them is what lets the address sanitizer's
# library come second.
exported() {
  nm -D --defined-only "$1" | awk '$2 ~ /[A-Z]/ {print $3}' | sort >"$work/names"
  foreign=$(grep -vE "^(MPIX?_[A-Z]|mpix?_|ompix?_.*_f$|$2)" "$work/names" || true)
  [ -z "$foreign" ] || complain "other names leave $1: $foreign"
  allocators=$(grep -E '^(malloc|calloc|realloc|reallocarray|free|cfree|memalign|aligned_alloc|posix_memalign|p?valloc|malloc_usable_size|_Zn.*|_Zd.*)$' "$work/names" || true)
  [ -z "$allocators" ] || complain "$1 exports $allocators"
}

# front FILE: needs the C library only, relocates next to nothing, runs nothing.
front() {
  [ "$(readelf -dW "$1" | awk '/NEEDED/ {print $NF}')" = "[libc.so.6]" ] || complain "$1 needs $(readelf -dW "$1" | grep NEEDED)"
  runs=$(readelf -dW "$1" | grep -E '\((INIT|FINI|INIT_ARRAY|FINI_ARRAY|PREINIT_ARRAY|STATIC_TLS)\)' || true)
  [ -z "$runs" ] || complain "$1 runs something when it is loaded: $runs"
  relocations=$(readelf -rW "$1" | grep -c R_ || true)
  [ "$relocations" -le 20 ] || complain "$1 has $relocations relocations"
}

# for_fortran FILE: the functions of $work/names that Fortran needs and does not find, to $work/missing.
for_fortran() {
  grep -E '^MPIX?_[A-Z][a-z]' "$work/names" | tr '[:upper:]' '[:lower:]' >"$work/functions"
  : >"$work/missing"
  case $mpi in
  openmpi)
    grep -qx ompi_barrier_f "$work/names" || return 0 # without Fortran
    sed 's/.*/&_/; p; s/.*/o&f/' "$work/functions" | sort | comm -23 - "$work/names" >"$work/missing" ;;
  mpich)
    fortran=$(ldconfig -p | awk '/libmpichfort.so/ {print $NF; exit}')
    [ -n "$fortran" ] || return 0
    nm -D --defined-only "$fortran" | awk '{print $3}' | sort >"$work/theirs"
    sed 's/.*/&_f08_/' "$work/functions" | sort | comm -12 - "$work/theirs" | comm -23 - "$work/names" >"$work/missing" ;;
  esac
}

for mpi in $mpis; do
  serve=$library/tutti/libtutti-$mpi-serve.so
  exported "$serve" '__[a-z]+san|_?_odr_asan'
  mv "$work/names" "$work/served"
  exported "$library/libtutti-$mpi.so" nothing
  front "$library/libtutti-$mpi.so"
  grep -E '^(mpi|MPI|ompi)' "$work/served" | diff - "$work/names" >"$work/differ" || complain "the halves differ: $(cat "$work/differ")"
  nm -D --defined-only "$library/libtutti.so" | awk '{sub("@.*", "", $3); print $3}' | sort >"$work/ours"
  missing=$(nm -D --undefined-only "$serve" | awk '$2 ~ /^(tt_|tutti_)/ {sub("@.*", "", $2); print $2}' | sort | comm -23 - "$work/ours")
  [ -z "$missing" ] || complain "not there: $missing"
  [ -z "$(readelf -dW "$serve" | grep STATIC_TLS || true)" ] || complain "$serve may be loaded too late for its static TLS"
  for_fortran
  [ ! -s "$work/missing" ] || complain "not for Fortran: $(cat "$work/missing")"
done
exit $wrong
