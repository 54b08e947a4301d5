/* tests/fuzz/plans_test.c - plans of all ranks as texts of anybody, for `tutti verify --plan`.
 *
 * A text is refused with its line or with the ranks that are missing; or it prints back to itself, and then it is
 * proven, refused with the place that is wrong, or too large. Bytes are changed; every number becomes each of those
 * about which programs are wrong; and since few such texts come as far as to the verifier, what they mean is changed,
 * too, and printed. */
#include "mutants/interpreter.h"
#include "support/fuzz.h"
#include "verify/verify.h"

static int seen[3]; /* texts that do not parse, are refused, are proven */
static int run;     /* proven ones that the interpreter has run */

static void check(bool holds, const char *what, const char *text) {
  if (holds)
    return;
  fprintf(stderr, "%s: %s\n--- the text:\n%s\n---\n", what, tutti_last_error(), text);
  abort();
}

/* What printing gives stands in the text where it is looked for; returns the end. */
static const char *check_part(char *printed, const char *at, const char *text) {
  size_t length = strlen(printed);
  check(strncmp(at, printed, length) == 0, "it prints back to the same text", text);
  free(printed);
  return at + length;
}

static void check_same(const tt_plan_set *set, const char *text) {
  const char *at = check_part(tt_plan_claim_print(&set->claim), text, text);
  for (int64_t r = 0; r < set->plan_count; r++)
    at = check_part(tt_plan_print(set->plan[r]), at, text);
  check(*at == '\0', "all of it is printed", text);
}

static bool begins(const char *with) { return strncmp(tutti_last_error(), with, strlen(with)) == 0; }

/* ---- what is proven is right, too, where the interpreter runs it ---- */

enum { RUNS = 4, BLOCKS = 64 };

static bool is_small(const tt_plan_set *set) {
  uint32_t lanes = 0;
  bool small = set->plan_count <= RANKS;
  for (int64_t r = 0; r < set->plan_count; r++) {
    lanes += set->plan[r]->lane_count;
    small = small && set->plan[r]->block_count <= BLOCKS && set->plan[r]->tmp_count <= BLOCKS;
  }
  return small && lanes <= LANES;
}

static void run_proven(const tt_plan_set *set, const char *text) {
  const tt_plan_claim *claim = &set->claim;
  tt_question question = {.collective = claim->collective,
                          .rank_count = claim->rank_count,
                          .block_count = claim->block_count,
                          .root = claim->root < 0 ? 0 : claim->root,
                          .in_place = claim->in_place,
                          .ordered = claim->ordered,
                          .reproducible = claim->reproducible,
                          .edge_count = claim->edge_count,
                          .from = claim->from,
                          .to = claim->to};
  tt_meaning meaning;
  check(tt_verify_meaning(&question, &meaning) == TUTTI_OK, "what is proven has a meaning", text);
  for (uint64_t seed = 0; seed < RUNS && is_small(set); seed++)
    check(interpret(&meaning, (const tt_plan *const *)set->plan, seed, 0, claim->ordered, NULL, NULL) == RIGHT,
          "what is proven is right in every run", text);
  run += is_small(set);
}

static void check_verdict(const tt_plan_set *set, const char *text) {
  tt_fail_clear();
  tutti_status status = tt_verify_claim(set);
  bool known =
      status == TUTTI_OK || status == TUTTI_ERR_PLAN || status == TUTTI_ERR_ARGUMENT || status == TUTTI_ERR_UNSUPPORTED;
  check(known, "a verdict", text);
  check((status == TUTTI_OK) == (tutti_last_error()[0] == '\0'), "a reason where it is refused", text);
  seen[status == TUTTI_OK ? 2 : 1]++;
  if (status == TUTTI_OK)
    run_proven(set, text);
}

static void parse(const char *bytes, size_t size) {
  fuzz_text copy = fuzz_copy(bytes, size);
  char *text = realloc(copy.bytes, size + 1);
  tt_plan_set *set = NULL;
  if (!text)
    abort();
  text[size] = '\0';
  tt_fail_clear();
  tutti_status status = tt_plan_set_parse(text, size, &set);
  if (status == TUTTI_OK) {
    check_same(set, text);
    check_verdict(set, text);
  } else {
    check(status == TUTTI_ERR_PLAN, "a text that is refused", text);
    check(begins("plan text, line ") || begins("plan text: the plans of ranks "), "an error names the line", text);
    seen[0]++;
  }
  tt_plan_set_destroy(set);
  free(text);
}

/* ---- every number another one ---- */

static void change_numbers_of(const fuzz_text *from) {
  static const char *const special[] = {"0",
                                        "1",
                                        "2",
                                        "00",
                                        "65536",
                                        "1048577",
                                        "2147483647",
                                        "2147483648",
                                        "4294967295",
                                        "4294967296",
                                        "999999999999",
                                        "9223372036854775808",
                                        "18446744073709551617"};
  for (size_t at = 0, old; at < from->size; at += old ? old : 1) {
    old = strspn(from->bytes + at, "0123456789");
    for (size_t n = 0; n < TT_COUNT(special) && old > 0; n++) {
      char *text = NULL;
      int size = asprintf(&text, "%.*s%s%s", (int)at, from->bytes, special[n], from->bytes + at + old);
      if (size < 0)
        abort();
      parse(text, (size_t)size);
      free(text);
    }
  }
}

/* ---- changes of what a text means ---- */

/* Mostly what may stand there. */
static uint32_t any_number(tt_random *random) {
  static const uint32_t special[] = {65536, INT32_MAX, (uint32_t)INT32_MAX + 1, UINT32_MAX};
  uint64_t drawn = tt_random_below(random, 40);
  return drawn < TT_COUNT(special) ? special[drawn] : (uint32_t)(drawn % 6);
}

static void change_claim(tt_plan_claim *claim, tt_random *random) {
  static const char *const name[] = {"allreduce", "reduce", "scan", "allgather", "neighbor-allgather", "gossip"};
  int64_t *const number[] = {&claim->rank_count, &claim->block_count, &claim->root};
  bool *const flag[] = {&claim->in_place, &claim->ordered, &claim->reproducible};
  uint64_t which = tt_random_below(random, 8);
  if (which < 3)
    *number[which] = any_number(random);
  else if (which < 6)
    *flag[which - 3] ^= true;
  else
    snprintf(claim->collective, sizeof claim->collective, "%s", name[tt_random_below(random, TT_COUNT(name))]);
}

static void change_header(tt_plan *plan, tt_random *random) {
  uint32_t *const number[] = {&plan->block_count, &plan->part_count, &plan->tmp_count, &plan->time_count};
  uint64_t which = tt_random_below(random, 7);
  if (which < TT_COUNT(number))
    *number[which] = any_number(random);
  else if (which == 4)
    plan->in_place ^= 1;
  else if (which == 5)
    plan->direct ^= 1;
  else
    plan->rank_count = any_number(random);
}

static void change_lane(tt_plan *plan, tt_lane *lane, tt_random *random) {
  switch (tt_random_below(random, 5)) {
  case 0:
    lane->id = any_number(random);
    break;
  case 1:
    lane->role = (uint16_t)tt_random_below(random, 3);
    break;
  case 2:
    lane->level = (uint16_t)any_number(random);
    break;
  case 3:
    lane->published ^= 1;
    break;
  default:
    if (plan->reader_count > 0)
      plan->reader[tt_random_below(random, plan->reader_count)] = (int32_t)(any_number(random) & INT32_MAX);
  }
}

static void change_ref(tt_ref *ref, tt_random *random) {
  if (tt_random_below(random, 2))
    ref->space = (uint32_t)tt_random_below(random, TT_SPACE_COUNT);
  else
    ref->index = any_number(random);
}

static void change_step(tt_step *step, tt_random *random) {
  uint32_t *const number[] = {&step->block, &step->time, &step->finish};
  uint64_t which = tt_random_below(random, 8);
  if (which < TT_COUNT(number))
    *number[which] = any_number(random);
  else if (which == 3)
    step->peer = (int32_t)(any_number(random) & INT32_MAX);
  else if (which == 4)
    step->kind = (uint8_t)tt_random_below(random, TT_STEP_KIND_COUNT);
  else if (which == 5)
    step->flags ^= (uint8_t)(1 << tt_random_below(random, 4));
  else
    change_ref(which == 6 ? &step->src : &step->dst, random);
}

static void change_wait(tt_plan *plan, tt_step *step, tt_random *random) {
  if (step->wait_count == 0)
    return;
  tt_wait *wait = &plan->wait[step->wait_first];
  uint32_t *const number[] = {&wait->lane, &wait->step};
  uint64_t which = tt_random_below(random, 4);
  if (which < TT_COUNT(number))
    *number[which] = any_number(random);
  else if (which == 2)
    wait->whole ^= 1;
  else
    step->wait_count--;
}

/* Steps of two lanes change places, too: that is of one plan for another. */
static void swap_steps(tt_plan *plan, tt_random *random) {
  tt_step *a = &plan->step[tt_random_below(random, plan->step_count)];
  tt_step *b = &plan->step[tt_random_below(random, plan->step_count)];
  tt_step kept = *a;
  *a = *b;
  *b = kept;
}

/* The last one: its place in the table is not printed. */
static void drop_step(tt_lane *lane) { lane->step_count -= lane->step_count > 0; }

static void change_set(tt_plan_set *set, tt_random *random) {
  tt_plan *plan = set->plan[tt_random_below(random, (uint64_t)set->plan_count)];
  uint64_t what = plan->step_count > 0 ? tt_random_below(random, 8) : 0;
  tt_lane *lane = &plan->lane[tt_random_below(random, plan->lane_count + (plan->lane_count == 0))];
  tt_step *step = &plan->step[tt_random_below(random, plan->step_count + (plan->step_count == 0))];
  if (what == 0)
    change_claim(&set->claim, random);
  else if (what == 1)
    change_header(plan, random);
  else if (what == 2)
    change_lane(plan, lane, random);
  else if (what == 3)
    swap_steps(plan, random);
  else if (what == 4)
    drop_step(lane);
  else if (what == 5)
    change_wait(plan, step, random);
  else
    change_step(step, random);
}

static void append(char **text, size_t *size, char *part) {
  size_t length = strlen(part);
  *text = realloc(*text, *size + length + 1);
  if (!*text)
    abort();
  memcpy(*text + *size, part, length + 1);
  *size += length;
  free(part);
}

static void parse_changed(const fuzz_text *from, tt_random *random) {
  tt_plan_set *set = NULL;
  char *text = NULL;
  size_t size = 0;
  if (tt_plan_set_parse(from->bytes, from->size, &set) == TUTTI_OK) {
    for (uint64_t changes = 1 + tt_random_below(random, 3); changes > 0; changes--)
      change_set(set, random);
    append(&text, &size, tt_plan_claim_print(&set->claim));
    for (int64_t r = 0; r < set->plan_count; r++)
      append(&text, &size, tt_plan_print(set->plan[r]));
    parse(text, size);
  }
  tt_plan_set_destroy(set);
  free(text);
}

static void change_all(void) {
  fuzz_text file[FUZZ_FILES];
  int count = fuzz_read("plans", file), rounds = getenv("TUTTI_TEST_LONG") ? 50 * 20000 : 20000;
  const char *given = getenv("TUTTI_TEST_SEED");
  tt_random random;
  tt_random_init(&random, given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL));
  for (int n = 0; n < count; n++) {
    file[n].bytes = realloc(file[n].bytes, file[n].size + 1);
    if (!file[n].bytes)
      abort();
    file[n].bytes[file[n].size] = '\0';
    change_numbers_of(&file[n]);
  }
  for (int n = 0; n < rounds; n++)
    parse_changed(&file[tt_random_below(&random, (uint64_t)count)], &random);
  for (int n = 0; n < count; n++)
    free(file[n].bytes);
}

int main(void) {
  fuzz_run("plans", parse);
  change_all();
  printf("%d do not parse, %d are refused, %d are proven; %d of these were run\n", seen[0], seen[1], seen[2], run);
  return seen[0] == 0 || seen[1] == 0 || run == 0;
}
