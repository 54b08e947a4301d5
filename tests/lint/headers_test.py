"""Every header compiles alone and twice: public ones in strict C11 and in C++ without the sources, the others in C,
those of MPI programs and of what stands in front of them with each MPI that is there; those that need UCX where it is."""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(os.environ.get("TUTTI_SOURCE", pathlib.Path(__file__).parents[2]))
WARNINGS = ["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", str(ROOT / "include")]
C_PUBLIC = ["cc", "-std=c11", "-xc", *WARNINGS]
CPP_PUBLIC = ["c++", "-std=c++11", "-xc++", *WARNINGS]
FOLDERS = ("src", "tools", "bench", "tests")
C_INTERNAL = ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-xc", *WARNINGS, f"-I{ROOT}", f"-I{ROOT / 'src'}", f"-I{ROOT / 'tests'}"]
MPI_FOLDERS = ("bindings/mpi", "tests/mpi", "tools/tune/mpi")
C_MPI = [[mpicc, *C_INTERNAL[1:]] for mpicc in ("mpicc.openmpi", "mpicc.mpich") if shutil.which(mpicc)]


def compiles(compiler, header):
    code = f'#include "{header}"\n' * 2
    result = subprocess.run([*compiler, "-"], input=code, text=True, stderr=subprocess.PIPE)
    if result.returncode != 0:
        print(f"{header.relative_to(ROOT)} does not compile alone with {compiler[0]}:\n{result.stderr}")
    return result.returncode == 0


def headers(folder):
    return sorted((ROOT / folder).rglob("*.h"))


if not (shutil.which("cc") and shutil.which("c++")):
    print("skipped: there is no cc or no c++")
    sys.exit(77)

public = headers("include")
mpi = [header for folder in MPI_FOLDERS for header in headers(folder)]
has_ucx = subprocess.run([*C_INTERNAL, "-"], input="#include <ucp/api/ucp.h>", text=True, capture_output=True).returncode == 0
ucx = [] if has_ucx else [ROOT / "src/transport/ucx" / name for name in ("library.h", "pipes.h")]
internal = [header for folder in FOLDERS for header in headers(folder) if header not in [*mpi, *ucx]]
results = [compiles(C_PUBLIC, header) for header in public]
results += [compiles(CPP_PUBLIC, header) for header in public]
results += [compiles(C_INTERNAL, header) for header in internal]
results += [compiles(mpicc, header) for header in mpi for mpicc in C_MPI]
print(f"{len(public)} public and {len(internal) + len(mpi)} internal headers, {results.count(False)} problems")
sys.exit(not all(results))
