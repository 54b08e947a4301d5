#!/usr/bin/env python3
"""gen_counted.py mpicc FILE - writes a library in C that counts the calls of each PMPI_ function, to be loaded before an
MPI: counted(what) prints those so far, a function a line."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["TUTTI_SOURCE"], "bindings", "mpi"))
import functions  # noqa: E402

HEAD = """#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <dlfcn.h>
#include <stdio.h>

static struct {
  const char *name;
  long calls;
} seen[%d];

void counted(FILE *to) {
  for (int n = 0; n < %d; n++)
    if (seen[n].calls > 0)
      fprintf(to, "%%s %%ld\\n", seen[n].name, seen[n].calls);
}
"""


def main():
    compiler, file = sys.argv[1:]
    every = list(functions.Header.read(compiler).functions.values())
    with open(file, "w") as out:
        out.write(HEAD % (len(every), len(every)))
        for number, function in enumerate(every):
            name = f"P{function.name}"
            out.write(f"\n{function.declaration.replace(function.name, name, 1)} {{\n"
                      f"  static __typeof__({name}) *real;\n"
                      f"  if (!real)\n    real = (__typeof__({name}) *)dlsym(RTLD_NEXT, \"{name}\");\n"
                      f"  seen[{number}].name = \"{name}\";\n  seen[{number}].calls++;\n"
                      f"  return {function.call().replace(function.name, 'real', 1)};\n}}\n")


main()
