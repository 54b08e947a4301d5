/* bench/simulated/mpi.cc - the collectives of SMPI, SimGrid's MPI, on a simulated machine. Built and run by
 * scripts/bench_simulated.py with smpicxx and smpirun.
 *
 *     mpi GAMMA EAGER SECONDS JOBS      a line of JOBS: COLLECTIVE ALGORITHM BYTES [BYTES ...]
 *
 * ALGORITHM is one of SMPI's for this collective; "@ompi" and "@mpich" are the selectors that take what those
 * libraries take. Prints "COLLECTIVE ALGORITHM BYTES NANOSECONDS" for each length, or "... failed" for what crashes or
 * takes more than SECONDS of the processor. Bytes are those of the whole vector, as everywhere in tutti. All ranks
 * begin at one moment; the time is that of the last one.
 *
 * A unit of SimGrid's time is a microsecond. No payload moves: what is combined takes GAMMA ns a byte of the rank's
 * time and nothing else, and what a program cannot tell from its data, it cannot take time for. Each job runs in a
 * fork of the simulation, behind what all have in common: SMPI looks once which ranks share a node. */
#include <mpi.h>
#include <smpi/smpi.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/s4u/Engine.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace simgrid::smpi::colls { /* SimGrid 3.32 exports them, but has no header for them */
void set_allgather(const std::string &name);
void set_allreduce(const std::string &name);
void set_alltoall(const std::string &name);
void set_bcast(const std::string &name);
void set_reduce(const std::string &name);
void set_reduce_scatter(const std::string &name);
void set_collectives();
} // namespace simgrid::smpi::colls
namespace colls = simgrid::smpi::colls;

namespace {

struct job {
  std::string collective, algorithm;
  std::vector<long> bytes;
};

constexpr int is_through = 42;  /* status of a child: SimGrid has 0 for a deadlock, too */
constexpr double slot_us = 2e7; /* from one call to the next: more than any takes */

/* Of all ranks: they are threads of one process (smpirun -no-privatize). */
std::vector<job> jobs;
double gamma_ns, end_us;
size_t eager_bytes; /* as SMPI's options have it */
unsigned limit_s;
char *in, *out;
bool in_child;

void combine(void *, void *, int *length, MPI_Datatype *type) {
  int size;
  MPI_Type_size(*type, &size);
  sg_actor_sleep_for(gamma_ns * *length * size / 1000);
}

/* Who sends less than this does not wait, and the message has a copy of its bytes. */
void drop_payload(smx_activity_t, void *buffer, size_t bytes) {
  if (bytes > 0 && bytes < eager_bytes)
    free(buffer);
}

void call(const std::string &name, int count, int ranks, MPI_Op op) {
  int each = count / ranks;
  if (name == "allreduce")
    MPI_Allreduce(in, out, count, MPI_FLOAT, op, MPI_COMM_WORLD);
  else if (name == "broadcast")
    MPI_Bcast(out, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
  else if (name == "reduce")
    MPI_Reduce(in, out, count, MPI_FLOAT, op, 0, MPI_COMM_WORLD);
  else if (name == "allgather")
    MPI_Allgather(in, each, MPI_FLOAT, out, each, MPI_FLOAT, MPI_COMM_WORLD);
  else if (name == "reduce-scatter")
    MPI_Reduce_scatter_block(in, out, each, MPI_FLOAT, op, MPI_COMM_WORLD);
  else
    MPI_Alltoall(in, each, MPI_FLOAT, out, each, MPI_FLOAT, MPI_COMM_WORLD);
}

void choose(const job &of) {
  static const struct {
    const char *collective;
    void (*set)(const std::string &);
  } rows[] = {{"allreduce", colls::set_allreduce},
              {"broadcast", colls::set_bcast},
              {"reduce", colls::set_reduce},
              {"allgather", colls::set_allgather},
              {"reduce-scatter", colls::set_reduce_scatter},
              {"all-to-all", colls::set_alltoall}};
  if (of.algorithm[0] == '@') {
    simgrid::s4u::Engine::set_config("smpi/coll-selector:" + of.algorithm.substr(1));
    colls::set_collectives();
    return;
  }
  for (const auto &row : rows)
    if (of.collective == row.collective)
      row.set(of.algorithm);
}

/* In the parent: false, when the child is through. */
bool fork_for(const job &of) {
  fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    itimerval limit = {};
    limit.it_value.tv_sec = limit_s;
    setitimer(ITIMER_PROF, &limit, nullptr);
    alarm(10 * limit_s); /* beside other programs */
    choose(of);
    return true;
  }
  int status = 1;
  if (child > 0)
    waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != is_through)
    printf("%s %s failed\n", of.collective.c_str(), of.algorithm.c_str());
  return false;
}

void run(const job &of, int rank, int ranks, MPI_Op op) {
  double begin_us = simgrid_get_clock();
  for (long bytes : of.bytes) {
    begin_us += slot_us;
    sg_actor_sleep_for(begin_us - simgrid_get_clock());
    call(of.collective, static_cast<int>(bytes / 4), ranks, op);
    if (simgrid_get_clock() > end_us)
      end_us = simgrid_get_clock();
    sg_actor_sleep_for(begin_us + slot_us / 2 - simgrid_get_clock());
    if (rank == 0)
      printf("%s %s %ld %.0f\n", of.collective.c_str(), of.algorithm.c_str(), bytes, 1000 * (end_us - begin_us));
    fflush(stdout); /* what comes next may take too long */
  }
  if (rank != 0)
    return;
  fflush(nullptr);
  _exit(is_through);
}

void read_jobs(const char *path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    job one;
    words >> one.collective >> one.algorithm;
    for (long bytes; words >> bytes;)
      one.bytes.push_back(bytes);
    jobs.push_back(one);
  }
}

void prepare(char **argv, int ranks) {
  gamma_ns = atof(argv[1]);
  eager_bytes = strtoul(argv[2], nullptr, 10);
  limit_s = static_cast<unsigned>(atoi(argv[3]));
  read_jobs(argv[4]);
  long most = 4L * ranks;
  for (const job &one : jobs)
    for (long bytes : one.bytes)
      most = bytes > most ? bytes : most;
  in = static_cast<char *>(SMPI_SHARED_MALLOC(most)); /* SMPI copies nothing out of it */
  out = static_cast<char *>(SMPI_SHARED_MALLOC(most));
}

} // namespace

int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Op op;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Op_create(combine, 1, &op);
  if (rank == 0)
    prepare(argv, ranks);
  sg_actor_sleep_for(1);
  colls::set_allreduce("mpich");
  call("allreduce", 1, ranks, op); /* looks who shares a node, which needs its payload */
  sg_actor_sleep_for(slot_us - simgrid_get_clock());
  smpi_comm_set_copy_data_callback(drop_payload);
  for (const job &one : jobs) {
    sg_actor_sleep_for(1); /* all have looked whether they are in the child before */
    if (rank == 0)
      in_child = fork_for(one);
    sg_actor_sleep_for(1);
    if (in_child)
      run(one, rank, ranks, op);
  }
  MPI_Finalize();
  return 0;
}
