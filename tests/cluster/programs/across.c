/* tests/cluster/programs/across.c - all collectives with all they can be given, many at a time, between nodes.
 *
 *     across FILE SEED ROUNDS ELEMENTS
 *
 * Rounds of tests/conformance/program.h: calls on four communicators, one of them reversed parts, with random counts,
 * types, operators, roots, places and parameters; every rank checks all of its memory by the definitions. FILE is what
 * the ranks share to check barriers; it is made if it is not there. */
#include "conformance/program.h"

#include "join.h"

#include <sys/mman.h>

static program_memory *share(const char *path) {
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  CHECK(fd >= 0 && ftruncate(fd, sizeof(program_memory)) == 0);
  void *memory = mmap(NULL, sizeof(program_memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(memory != MAP_FAILED);
  close(fd);
  return memory;
}

int main(int argc, char **argv) {
  if (argc != 5)
    return 2;
  const program_options options = {
      .seed = strtoull(argv[2], NULL, 10), .rounds = atoi(argv[3]), .most = atoll(argv[4]), .memory = share(argv[1])};
  int64_t from_ns = join_now_ns();
  tutti_context *context = join_job();
  program_run(context, &options);
  if (tutti_context_rank(context) == 0)
    printf("%" PRId64 " ranks, %d rounds: right, %.1f s\n", tutti_context_size(context), options.rounds,
           (double)(join_now_ns() - from_ns) * 1e-9);
  tutti_context_destroy(context);
  return 0;
}
