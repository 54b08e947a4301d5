/* examples/hello.c - the first program: every rank adds its number. Run: tutti run -n 4 build/bin/examples/hello */
#include <tutti/tutti.h>

#include <stdio.h>

int main(void) {
  tutti_context *context;
  tutti_comm *comm;
  if (tutti_context_create(NULL, &context) != TUTTI_OK || tutti_comm_create(context, &comm) != TUTTI_OK)
    return fprintf(stderr, "%s\n", tutti_last_error()), 1;
  int rank = (int)tutti_comm_rank(comm), sum = 0;
  if (tutti_allreduce(&rank, &sum, 1, TUTTI_INT32, TUTTI_SUM, comm) != TUTTI_OK)
    return fprintf(stderr, "%s\n", tutti_last_error()), 1;
  printf("rank %d of %d: the sum of all ranks is %d\n", rank, (int)tutti_comm_size(comm), sum);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
  return 0;
}
