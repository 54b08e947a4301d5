/* bindings/mpi/request_table.c - works by the handle of their MPI_Request: a hash table with chains through the works.
 *
 * It never fails: where there is no memory to grow, chains become longer. */
#include "request_table.h"

#include <stdatomic.h>

#include <stdlib.h>
#include <string.h>

#define FIRST_BITS 6

static tt_mpi_work *first_buckets[1 << FIRST_BITS];
static tt_mpi_work **buckets = first_buckets;
static int bits = FIRST_BITS;
static _Atomic int64_t count; /* read without the lock, by who asks whether there is anything of ours */

/* Handles are numbers in one MPI and pointers in another. */
static tt_mpi_work **bucket_of(MPI_Request request) {
  uint64_t value = 0;
  memcpy(&value, &request, sizeof request);
  return &buckets[value * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits)];
}

static void put(tt_mpi_work *work) {
  tt_mpi_work **bucket = bucket_of(work->mpi);
  work->chain = *bucket;
  *bucket = work;
}

static void grow(void) {
  tt_mpi_work **old = buckets, **larger = calloc((size_t)2 << bits, sizeof *larger);
  if (!larger)
    return;
  size_t old_count = (size_t)1 << bits;
  buckets = larger;
  bits++;
  for (size_t n = 0; n < old_count; n++)
    for (tt_mpi_work *work = old[n], *next; work; work = next) {
      next = work->chain;
      put(work);
    }
  if (old != first_buckets)
    free(old);
}

void tt_mpi_table_add(tt_mpi_work *work) {
  if (atomic_fetch_add_explicit(&count, 1, memory_order_relaxed) >= (int64_t)1 << bits)
    grow();
  put(work);
}

void tt_mpi_table_remove(tt_mpi_work *work) {
  tt_mpi_work **at = bucket_of(work->mpi);
  while (*at != work)
    at = &(*at)->chain;
  *at = work->chain;
  atomic_fetch_sub_explicit(&count, 1, memory_order_relaxed);
}

tt_mpi_work *tt_mpi_table_find(MPI_Request request) {
  tt_mpi_work *work = *bucket_of(request);
  while (work && work->mpi != request)
    work = work->chain;
  return work;
}

tt_mpi_work *tt_mpi_table_any(void) {
  for (size_t n = 0; n < (size_t)1 << bits; n++)
    if (buckets[n])
      return buckets[n];
  return NULL;
}

int64_t tt_mpi_table_count(void) { return atomic_load_explicit(&count, memory_order_relaxed); }

void tt_mpi_table_clear(void) {
  if (buckets != first_buckets)
    free(buckets);
  buckets = first_buckets;
  bits = FIRST_BITS;
  memset(first_buckets, 0, sizeof first_buckets);
  atomic_store_explicit(&count, 0, memory_order_relaxed);
}

/* ---- handles that outlive their works ---- */

static MPI_Request *left;
static int64_t left_count;

/* Where there is no memory, nobody knows it later. */
void tt_mpi_table_leave(MPI_Request request) {
  MPI_Request *larger = realloc(left, (size_t)(left_count + 1) * sizeof *left);
  if (!larger)
    return;
  left = larger;
  left[left_count++] = request;
}

static int64_t find_left(MPI_Request request) {
  int64_t n = 0;
  while (n < left_count && left[n] != request)
    n++;
  return n;
}

bool tt_mpi_table_is_left(MPI_Request request) { return find_left(request) < left_count; }

void tt_mpi_table_forget(MPI_Request request) {
  int64_t n = find_left(request);
  if (n < left_count)
    left[n] = left[--left_count];
}
