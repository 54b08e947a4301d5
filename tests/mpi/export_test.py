"""`tutti tune --export`: Open MPI reads the rules and runs by them; what has no counterpart is said."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TUTTI = str(pathlib.Path(os.environ["TUTTI_BIN"]) / "tutti")
DEADLINE_S = 120

# Says which algorithm coll_tuned calls. All arguments are pointers or integers.
SPY = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
typedef long any(long, long, long, long, long, long, long, long, long, long);
#define SPY(name)                                                                                                      \\
  long ompi_coll_base_##name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) {         \\
    any *real = (any *)dlsym(RTLD_NEXT, "ompi_coll_base_" #name);                                                      \\
    printf("ran " #name "\\n");                                                                                        \\
    fflush(stdout);                                                                                                    \\
    return real(a, b, c, d, e, f, g, h, i, j);                                                                         \\
  }
SPY(allreduce_intra_ring)
SPY(allreduce_intra_recursivedoubling)
SPY(allreduce_intra_redscat_allgather)
SPY(bcast_intra_pipeline)
SPY(bcast_intra_binomial)
"""

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
static float in[1 << 20], out[1 << 20];
int main(int argc, char **argv) {
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  in[0] = 1;
  int lengths[] = {16, 1 << 18};
  for (int n = 0; n < 2; n++) {
    printf("allreduce %d\\n", 4 * lengths[n]);
    MPI_Allreduce(in, out, lengths[n], MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (out[0] != (float)size)
      MPI_Abort(MPI_COMM_WORLD, 1);
  }
  printf("bcast\\n");
  MPI_Bcast(in, 1 << 18, MPI_FLOAT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
}
"""


def winner(collective, size, params, ranks=4, nodes=1):
    return {"collective": collective, "bytes": size, "ranks": ranks, "nodes": nodes, "ranks_per_node": ranks // nodes,
            "nics": 1, "ns": 1000, "rules_ns": 2000, "params": params}


class Exported(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.wisdom = self.folder / "wisdom.json"

    def machine(self):
        """The fingerprint of this machine, which `tutti tune` writes."""
        run = subprocess.run([TUTTI, "tune", "barrier", "-n", "2", "--budget", "100ms", "--busy"], text=True,
                             env=dict(os.environ, TUTTI_WISDOM=str(self.wisdom)), timeout=DEADLINE_S,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(run.returncode, 0, run.stdout)
        return json.loads(self.wisdom.read_text())["machine"]

    def export(self, library, *winners, code=0):
        if winners:
            self.wisdom.write_text(json.dumps({"tutti-wisdom": 1, "machine": self.machine(), "about": "",
                                               "winners": list(winners)}))
        to = self.folder / "rules"
        run = subprocess.run([TUTTI, "tune", "--export", library, str(to)], text=True, timeout=DEADLINE_S,
                             env=dict(os.environ, TUTTI_WISDOM=str(self.wisdom) if winners else "off"),
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.said = run.stderr
        return to

    def build(self, name, text, *words):
        source, made = self.folder / (name + ".c"), self.folder / name
        source.write_text(text)
        subprocess.run([*words, str(source), "-o", str(made)], check=True, timeout=DEADLINE_S)
        return made

    def test_open_mpi_runs_by_the_rules(self):
        if not shutil.which("mpicc.openmpi") or not shutil.which("mpirun.openmpi"):
            self.skipTest("no Open MPI")
        rules = self.export("openmpi", winner("allreduce", 64, "ring"), winner("allreduce", 1 << 20, "recursive-doubling"),
                            winner("broadcast", 1 << 20, "chain"))
        spy = self.build("spy.so", SPY, "cc", "-shared", "-fPIC", "-ldl")
        program = self.build("program", PROGRAM, "mpicc.openmpi")

        def ran(*words):
            run = subprocess.run(["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n", "4", *words,
                                  "-x", "LD_PRELOAD=" + str(spy), str(program)], text=True, timeout=DEADLINE_S,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, OMPI_MCA_coll_sm_priority="0"))
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            return set(line for line in run.stdout.splitlines() if line.startswith("ran "))

        dynamic = ran("--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", "coll_tuned_dynamic_rules_filename", str(rules))
        self.assertTrue({"ran allreduce_intra_ring", "ran allreduce_intra_recursivedoubling", "ran bcast_intra_pipeline"} <= dynamic,
                        dynamic)
        self.assertNotIn("ran allreduce_intra_ring", ran())

    def run_mpich(self, program, rules):
        return subprocess.run(["mpiexec.mpich", "-n", "4", str(program)], text=True, timeout=DEADLINE_S,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=dict(os.environ, MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=str(rules)))

    def test_mpich_runs_by_the_rules(self):
        if not shutil.which("mpicc.mpich") or not shutil.which("mpiexec.mpich"):
            self.skipTest("no MPICH")
        rules = self.export("mpich", winner("allreduce", 64, "recursive-doubling"), winner("allreduce", 1 << 20, "rabenseifner"),
                            winner("broadcast", 1 << 20, "scatter-allgather"), winner("all-to-all", 4096, "linear", ranks=3),
                            winner("reduce-scatter", 4096, "ring"))
        program = self.build("program", PROGRAM, "mpicc.mpich")
        ran = self.run_mpich(program, rules)
        self.assertEqual(ran.returncode, 0, ran.stdout)
        tree = json.loads(rules.read_text())
        for name in tree:  # what the file says is what runs: without rules, MPICH stops
            if name == "collective=allreduce":
                tree[name]["comm_type=intra"] = {"comm_type=inter": {"algorithm=MPIR_Allreduce_inter_reduce_exchange_bcast": {}}}
        rules.write_text(json.dumps(tree))
        self.assertNotEqual(self.run_mpich(program, rules).returncode, 0)

    def test_mpich_has_lengths_of_each_size(self):
        tree = json.loads(self.export("mpich", winner("broadcast", 4096, "binomial")).read_text())
        sizes = tree["collective=bcast"]["comm_type=intra"]
        self.assertEqual(list(sizes), ["comm_size<=3", "comm_size<=4", "comm_size=any"])
        self.assertEqual(list(sizes["comm_size<=4"]), ["avg_msg_size<=1023", "avg_msg_size<=24575", "avg_msg_size=any"])
        self.assertEqual(sizes["comm_size<=4"]["avg_msg_size<=24575"], {"algorithm=MPIR_Bcast_intra_binomial": {}})

    def test_lengths_and_ranks_far_from_wisdom_stay_with_the_library(self):
        text = self.export("openmpi", winner("allreduce", 4096, "form=split [core:chain] slice=8K")).read_text()
        plain = [line.split("#")[0].strip() for line in text.splitlines()]
        numbers = [line for line in plain if line]
        at = numbers.index("2")
        self.assertEqual(numbers[at + 1:at + 9], ["3", "1 1", "0 0 0 0", "4 3", "0 0 0 0", "1024 5 0 8192", "24576 0 0 0",
                                                  "5 1"], text)

    def test_what_has_no_counterpart_is_said(self):
        self.export("openmpi", winner("allreduce", 2 << 20, "form=split [2:chain/core:star] channels=2"),
                    winner("allreduce", 64, "recursive-doubling"))
        self.assertEqual(self.said.strip(), "allreduce 2M, 4 ranks: 'form=split [2:chain/core:star] channels=2' has no "
                         "counterpart; nearest is ring")

    def test_a_winner_of_another_version_is_left_out(self):
        winners = winner("broadcast", 4096, "binomial"), winner("allreduce", 64, "form=later [core:star]")
        for library, kept in ("openmpi", "1024 6 0 0 # binomial"), ("mpich", "Bcast_intra_binomial"), ("ucc", "bcast:1024-"):
            self.assertIn(kept, self.export(library, *winners).read_text())
            self.assertRegex(self.said, "allreduce 64, 4 ranks: left out; .* does not know 'form=later .*wisdom.json:")

    def test_of_two_shapes_that_of_most_nodes_counts(self):
        self.export("openmpi", winner("broadcast", 64, "linear"), winner("broadcast", 64, "binomial", nodes=2))
        self.assertIn("broadcast 64, 4 ranks on 1 node: left out", self.said)

    def test_ucc_has_ranges_of_lengths_and_ranks(self):
        text = self.export("ucc", winner("allgather", 4096, "ring")).read_text()
        self.assertIn("UCC_TL_UCP_TUNE = allgather:1024-24576:[4-4]:@ring\n", text)

    def test_without_wisdom_there_is_nothing_to_export(self):
        self.export("openmpi", code=1)
        self.assertIn("there is no wisdom to export", self.said)
        self.assertFalse((self.folder / "rules").exists())

    def test_an_unknown_library_is_refused(self):
        self.export("nccl", code=2)
        self.assertIn("--export nccl: the libraries are openmpi, mpich, ucc", self.said)


if __name__ == "__main__":
    unittest.main()
