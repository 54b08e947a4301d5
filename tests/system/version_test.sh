# Ranks of different versions do not join one job: all of them say which two there are. Other versions are made by building
# what says the version again, with other numbers, before the rest of the library.
set -eu
. "$TUTTI_SOURCE/tests/support/installed.sh"

# build NAME FLAGS...: examples/hello.c on a tutti of another version
build() {
  name=$1
  shift
  cc -std=gnu11 -D_GNU_SOURCE ${sanitize:+-fsanitize=$sanitize} "$@" -I"$TUTTI_SOURCE/src" "$TUTTI_SOURCE/examples/hello.c" \
    "$TUTTI_SOURCE/src/boot/version.c" -o "$work/$name" $(pkg-config --static --cflags --libs tutti | sed 's/-ltutti/-l:libtutti.a/')
}
this=$("$TUTTI_BIN/tutti" version | cut -d ' ' -f 2)
build same
build library '-DTT_BOOT_LIBRARY="7.8.9"'
build wire -DTT_BOOT_WIRE=1000
build both -DTT_BOOT_WIRE=1000 '-DTT_BOOT_LIBRARY="7.8.9"'

# job LAUNCHER A B C: three ranks, with these programs
job() {
  launcher=$1
  cat >"$work/rank" <<END
rank=\${TUTTI_RANK:-\${PMIX_RANK:-\$PMI_RANK}}
case \$rank in 0) exec $work/$2 ;; 1) exec $work/$3 ;; 2) exec $work/$4 ;; esac
END
  case $launcher in
  tutti) set -- "$TUTTI_BIN/tutti" run ;;
  openmpi) set -- mpirun.openmpi --allow-run-as-root --oversubscribe ;;
  mpich) set -- mpiexec.mpich ;;
  esac
  TUTTI_CREATE_TIMEOUT=30s timeout -k 5 120 "$@" -n 3 sh "$work/rank" >"$work/out" 2>&1 || true
}

# say COUNT TEXT: so many ranks do
say() {
  [ "$(grep -c "$2" "$work/out")" = "$1" ] && return
  echo "not '$2' $1 times:"
  cat "$work/out"
  exit 1
}

job tutti same same same
say 3 'the sum of all ranks is 3'
job tutti same library same
say 3 "^tutti_context_create: .* ranks 0 and 1 have different versions of tutti: $this (wire [0-9]*) and 7.8.9 (wire [0-9]*)"
job tutti library library library
say 3 'the sum of all ranks is 3'
for order in "wire same same" "same wire same" "same same wire"; do
  job tutti $order
  say 3 "^tutti_context_create: .* rank [0-2] has tutti $this (wire 1000), the launcher has $this (wire [0-9]*)"
done
job tutti both both both
say 3 "^tutti_context_create: .* rank [0-2] has tutti 7.8.9 (wire 1000), the launcher has $this (wire [0-9]*)"

# Other launchers only carry bytes, so that ranks find it out among themselves; the first to end may end the others.
for launcher in openmpi mpich; do
  case $launcher in openmpi) command -v mpirun.openmpi ;; mpich) command -v mpiexec.mpich ;; esac >/dev/null || continue
  case $launcher-$sanitize in openmpi-*address*) export ASAN_OPTIONS=detect_leaks=0 ;; *thread*) continue ;; esac
  job $launcher both both both
  say 3 'the sum of all ranks is 3'
  job $launcher same same both
  grep -q "ranks 0 and 2 have different versions of tutti: $this (wire [0-9]*) and 7.8.9 (wire 1000)" "$work/out" || say 3 version
done
