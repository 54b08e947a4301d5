/* tests/fuzz/learned_test.c - files of lessons of anybody.
 *
 * A file is refused with its name and, unless it is wrong as a whole, a line; or all of it means something that holds:
 * whoever is asked says parameters that parse, or leaves it to the rules, or says nothing; what it comes to for a shape
 * comes back from the numbers that ranks send each other; wisdom stays before it; and the file that is written of it
 * says the same. */
#include "fuzz/refused.h"
#include "tune/lessons.h"

#include <ctype.h>
#include <unistd.h>

enum { ROUNDS = 3000 };

static char path[] = "/tmp/tutti-fuzz-learned-XXXXXX", written[64], lock[80];
static int used, said;

/* ---- used ---- */

static const tt_region shapes[] = {{.rank_count = 4, .node_count = 1, .ranks_per_node = 4, .nic_count = 1},
                                   {.rank_count = 6, .node_count = 2, .ranks_per_node = 3, .nic_count = 2},
                                   {.rank_count = INT32_MAX, .node_count = INT32_MAX, .ranks_per_node = 1}};

static void check_asked(const tt_lesson *of, const char *bytes, size_t size) {
  for (size_t s = 0; s < TT_COUNT(shapes); s++)
    for (int power = 0; power <= 62; power += 2)
      for (tt_teacher who = TT_TEACHER_RULES; who < TT_TEACHER_COUNT; who++) {
        tt_region call = shapes[s];
        tt_params params;
        call.collective = of->collective;
        call.bytes = (int64_t)1 << power;
        const char *text = tt_lesson_ask(of, who, &call);
        check(!text || !*text || tt_params_parse(text, &params) == TUTTI_OK, "parameters parse", bytes, size);
        said += text && *text;
      }
}

static void check_numbers(const tt_wisdom *wisdom, const char *bytes, size_t size) {
  int64_t *numbers, count;
  tt_wisdom *back = NULL;
  check(tt_wisdom_pack(wisdom, &numbers, &count) == TUTTI_OK, "it can be sent", bytes, size);
  check(tt_wisdom_unpack(numbers, count, &back) == TUTTI_OK && back->inferred_count == wisdom->inferred_count,
        "numbers come back", bytes, size);
  for (int64_t n = 0; n < wisdom->inferred_count; n++) {
    const tt_inferred *a = &wisdom->inferred[n], *b = &back->inferred[n];
    check(tt_region_same(&a->region, &b->region) && a->bytes_last == b->bytes_last && a->by == b->by &&
              strcmp(a->text, b->text) == 0 && strcmp(a->source, b->source) == 0,
          "as they were", bytes, size);
  }
  free(numbers);
  tt_wisdom_destroy(back);
}

/* One winner of 4096 bytes: near it the lessons say nothing. */
static void check_calls(const tt_lessons *lessons, const tt_region *shape, const char *bytes, size_t size) {
  static tt_dispatch dispatch;
  tt_wisdom *wisdom = NULL;
  tt_winner winner = {.region = *shape, .text = "two-level-ring"};
  winner.region.bytes = 4096;
  winner.region.collective = TT_ALLREDUCE;
  check(tt_wisdom_create(lessons->machine, "", &wisdom) == TUTTI_OK && tt_wisdom_put(wisdom, &winner) == TUTTI_OK,
        "there is wisdom", bytes, size);
  check(tt_lessons_infer(lessons, shape, wisdom) == TUTTI_OK, "lessons are asked", bytes, size);
  tt_dispatch_make(wisdom, shape, &dispatch);
  tt_authorities of = {.params = "", .wisdom = wisdom, .dispatch = &dispatch};
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    for (int power = 0; power <= 62; power++) {
      tt_region call = *shape;
      call.collective = (tt_collective)c;
      call.bytes = (int64_t)1 << power;
      tt_choice choice = tt_choose(&of, &call, false);
      bool near = c == TT_ALLREDUCE && abs(power - 12) <= 2;
      check(choice.text && (choice.by == TT_BY_WISDOM) == near, "wisdom decides near it, and nowhere else", bytes,
            size);
      check(choice.by == TT_BY_WISDOM || choice.by == TT_BY_LEARNED || choice.by == TT_BY_MODEL ||
                choice.by == TT_BY_NOBODY,
            "else lessons, or nobody", bytes, size);
    }
  check_numbers(wisdom, bytes, size);
  tt_wisdom_destroy(wisdom);
}

static void check_written(const tt_lessons *lessons, const char *bytes, size_t size) {
  tt_lessons *back = NULL;
  unlink(written);
  check(tt_lessons_write(written, lessons) == TUTTI_OK, "it can be written", bytes, size);
  check(tt_lessons_read(written, &back) == TUTTI_OK && back->count == lessons->count, "it comes back", bytes, size);
  for (int64_t n = 0; n < lessons->count; n++)
    for (int power = 0; power <= 62; power += 2) {
      const tt_lesson *a = &lessons->lesson[n], *b = &back->lesson[n];
      tt_region call = shapes[0];
      call.collective = a->collective;
      call.bytes = (int64_t)1 << power;
      const char *first = tt_lesson_ask(a, a->by, &call), *second = tt_lesson_ask(b, b->by, &call);
      check((first == NULL) == (second == NULL) && (!first || strcmp(first, second) == 0), "it says the same", bytes,
            size);
    }
  tt_lessons_destroy(back);
}

static void check_used(const tt_lessons *lessons, const char *bytes, size_t size) {
  check(strlen(lessons->machine) == 16, "it is of some machine", bytes, size);
  for (int64_t n = 0; n < lessons->count; n++)
    check_asked(&lessons->lesson[n], bytes, size);
  for (size_t s = 0; s < TT_COUNT(shapes); s++)
    check_calls(lessons, &shapes[s], bytes, size);
  if (used % 16 == 0) /* it waits for the disk */
    check_written(lessons, bytes, size);
  used++;
}

/* ---- files ---- */

static void parse(const char *bytes, size_t size) {
  tt_lessons *lessons = NULL;
  FILE *out = fopen(path, "w");
  check(out && fwrite(bytes, 1, size, out) == size && fclose(out) == 0, "a file is written", bytes, size);
  tt_fail_clear();
  tutti_status status = tt_lessons_read(path, &lessons);
  if (status == TUTTI_OK)
    check_used(lessons, bytes, size);
  else
    check_error(path, status, bytes, size);
  check((status == TUTTI_OK) == (lessons != NULL), "there are lessons where there is no error", bytes, size);
  tt_lessons_destroy(lessons);
}

/* In memory of just that size. */
static void parse_copy(const char *bytes, size_t size) {
  fuzz_text text = fuzz_copy(bytes, size);
  parse(text.bytes, text.size);
  free(text.bytes);
}

/* One digit becomes another: such files are often right, so that what they say is looked at too. */
static void change_digit(char *bytes, size_t size, tt_random *random) {
  size_t at = (size_t)tt_random_below(random, size + 1);
  while (at < size && !isdigit((unsigned char)bytes[at]))
    at++;
  if (at < size)
    bytes[at] = (char)('0' + tt_random_below(random, 10));
}

static void parse_changed(void) {
  static char bytes[WISDOM_BYTES];
  fuzz_text file[FUZZ_FILES];
  int files = fuzz_read("learned", file);
  const char *given = getenv("TUTTI_TEST_SEED");
  uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
  int rounds = getenv("TUTTI_TEST_LONG") ? ROUNDS * 40 : ROUNDS;
  tt_random random;
  tt_random_init(&random, seed);
  for (int n = 0; n < rounds; n++) {
    const fuzz_text *right = &file[tt_random_below(&random, (uint64_t)files)];
    size_t now = right->size;
    memcpy(bytes, right->bytes, now);
    if (n % 4 == 0)
      change_digit(bytes, now, &random);
    else
      for (uint64_t changes = 1 + tt_random_below(&random, 3); changes > 0; changes--)
        now = wisdom_change(bytes, now, &random);
    parse_copy(bytes, now);
  }
  for (int n = 0; n < files; n++)
    free(file[n].bytes);
  printf("lessons: %d changed files, TUTTI_TEST_SEED=%" PRIu64 "\n", rounds, seed);
}

int main(void) {
  int file = mkstemp(path);
  if (file < 0)
    return 1;
  close(file);
  snprintf(written, sizeof written, "%s.back", path);
  snprintf(lock, sizeof lock, "%s.lock", written);
  fuzz_run("learned", parse);
  parse_changed();
  printf("%d were used, %d refused, %d left alone; parameters were said %d times\n", used, refused, left_alone, said);
  unlink(path);
  unlink(written);
  unlink(lock);
  return used > 40 && refused > 100 && left_alone > 100 && said > 1000 ? 0 : 1;
}
