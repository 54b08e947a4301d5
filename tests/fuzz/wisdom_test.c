/* tests/fuzz/wisdom_test.c - wisdom files of anybody.
 *
 * A file is refused with its name and, unless it is wrong as a whole, a line; or all of it means something that holds:
 * each winner parses and is in range, comes back from the numbers that ranks send each other and from the file that is
 * written of it, and a call of any length finds a winner of its own shape that is near, or none. */
#include "fuzz/refused.h"
#include "tune/wisdom.h"

#include <unistd.h>

#define MACHINE "0123456789abcdef"

enum { ROUNDS = 3000 };

static char path[] = "/tmp/tutti-fuzz-wisdom-XXXXXX", written[64], lock[80];
static int used;

/* ---- used ---- */

static bool is_in_range(const tt_region *of) {
  return of->collective >= 0 && of->collective < TT_COLLECTIVE_COUNT && of->bytes >= 0 && of->bytes < INT64_MAX &&
         of->rank_count >= 1 && of->rank_count <= INT32_MAX && of->node_count >= 1 && of->node_count <= INT32_MAX &&
         of->ranks_per_node >= 1 && of->ranks_per_node <= INT32_MAX && of->nic_count >= 0 && of->nic_count <= INT32_MAX;
}

static bool same(const tt_wisdom *a, const tt_wisdom *b) {
  bool equal = a->count == b->count;
  for (int64_t n = 0; n < a->count && equal; n++) {
    const tt_winner *x = &a->winner[n], *y = tt_wisdom_of(b, &x->region);
    equal = y && strcmp(x->text, y->text) == 0 && x->time_ns == y->time_ns && x->rules_ns == y->rules_ns;
  }
  return equal;
}

static void check_numbers(const tt_wisdom *wisdom, const char *bytes, size_t size) {
  int64_t *numbers, count;
  tt_wisdom *back = NULL;
  check(tt_wisdom_pack(wisdom, &numbers, &count) == TUTTI_OK, "it can be sent", bytes, size);
  check(tt_wisdom_unpack(numbers, count, &back) == TUTTI_OK && same(wisdom, back), "numbers come back", bytes, size);
  for (int64_t n = 0; n < wisdom->count; n++)
    check(strcmp(wisdom->winner[n].source, back->winner[n].source) == 0, "so do lines", bytes, size);
  free(numbers);
  tt_wisdom_destroy(back);
}

static void check_written(const tt_wisdom *wisdom, const char *bytes, size_t size) {
  tt_wisdom *back = NULL;
  unlink(written);
  check(tt_wisdom_write(written, wisdom) == TUTTI_OK, "it can be written", bytes, size);
  check(tt_wisdom_read(written, &back) == TUTTI_OK && same(wisdom, back), "it comes back", bytes, size);
  tt_wisdom_destroy(back);
}

static void check_calls(const tt_wisdom *wisdom, const tt_region *shape, const char *bytes, size_t size) {
  static tt_dispatch dispatch;
  tt_dispatch_make(wisdom, shape, &dispatch);
  tt_authorities of = {.params = "", .wisdom = wisdom, .dispatch = &dispatch};
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    for (int power = 0; power <= 63; power += 3) {
      tt_region call = *shape;
      call.collective = (tt_collective)c;
      call.bytes = power < 63 ? (int64_t)1 << power : INT64_MAX;
      tt_choice choice = tt_choose(&of, &call, false);
      const tt_region *found = choice.winner ? &choice.winner->region : NULL;
      check(choice.text && (choice.by == TT_BY_WISDOM) == (found != NULL), "a call is decided", bytes, size);
      check(!found || (found->collective == call.collective && found->rank_count == call.rank_count &&
                       found->node_count == call.node_count &&
                       abs(tt_dispatch_bucket(found->bytes) - tt_dispatch_bucket(call.bytes)) <= 4),
            "by what was measured near it", bytes, size);
    }
}

static void check_used(const tt_wisdom *wisdom, const char *bytes, size_t size) {
  tt_region shape = {.rank_count = 4, .node_count = 1, .ranks_per_node = 4, .nic_count = 1};
  check(strlen(wisdom->machine) == 16, "it is of some machine", bytes, size);
  for (int64_t n = 0; n < wisdom->count; n++) {
    tt_params params;
    check(is_in_range(&wisdom->winner[n].region), "a winner is in range", bytes, size);
    check(tt_params_parse(wisdom->winner[n].text, &params) == TUTTI_OK, "its parameters parse", bytes, size);
  }
  check_numbers(wisdom, bytes, size);
  check_written(wisdom, bytes, size);
  check_calls(wisdom, &shape, bytes, size);
  if (wisdom->count > 0)
    check_calls(wisdom, &wisdom->winner[0].region, bytes, size);
  used++;
}

/* ---- files ---- */

static void put_file(const char *bytes, size_t size) {
  FILE *out = fopen(path, "w");
  check(out && fwrite(bytes, 1, size, out) == size && fclose(out) == 0, "a file is written", bytes, size);
}

static void parse(const char *bytes, size_t size) {
  tt_wisdom *wisdom = NULL;
  put_file(bytes, size);
  tt_fail_clear();
  tutti_status status = tt_wisdom_read(path, &wisdom);
  if (status == TUTTI_OK)
    check_used(wisdom, bytes, size);
  else
    check_error(path, status, bytes, size);
  check((status == TUTTI_OK) == (wisdom != NULL), "there is wisdom where there is no error", bytes, size);
  tt_wisdom_destroy(wisdom);
}

/* In memory of just that size. */
static void parse_copy(const char *bytes, size_t size) {
  fuzz_text text = fuzz_copy(bytes, size);
  parse(text.bytes, text.size);
  free(text.bytes);
}

static void parse_changed(void) {
  static char right[WISDOM_BYTES], bytes[WISDOM_BYTES];
  const char *given = getenv("TUTTI_TEST_SEED");
  uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
  size_t size = wisdom_write(MACHINE, right);
  int rounds = getenv("TUTTI_TEST_LONG") ? ROUNDS * 40 : ROUNDS;
  tt_random random;
  tt_random_init(&random, seed);
  parse_copy(right, size);
  check(used > 0, "a right file is used", right, size);
  for (size_t cut = 0; cut < size; cut += 7)
    parse_copy(right, cut);
  for (int n = 0; n < rounds; n++) {
    size_t now = size;
    memcpy(bytes, right, size);
    for (uint64_t changes = 1 + tt_random_below(&random, 3); changes > 0; changes--)
      now = wisdom_change(bytes, now, &random);
    parse_copy(bytes, now);
  }
  printf("wisdom: %d changed files, TUTTI_TEST_SEED=%" PRIu64 "\n", rounds, seed);
}

int main(void) {
  int file = mkstemp(path);
  if (file < 0)
    return 1;
  close(file);
  snprintf(written, sizeof written, "%s.back", path);
  snprintf(lock, sizeof lock, "%s.lock", written);
  fuzz_run("wisdom", parse);
  parse_changed();
  printf("%d were used, %d refused, %d left alone\n", used, refused, left_alone);
  unlink(path);
  unlink(written);
  unlink(lock);
  return used > 100 && refused > 100 && left_alone > 100 ? 0 : 1;
}
