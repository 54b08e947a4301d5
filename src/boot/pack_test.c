/* What the launcher packs is unpacked to the same; what is cut or wrong is refused. */
#include "boot/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS_MOST = 40, BYTES_MOST = 3000, ROUNDS = 2000 };

/* Ranks that mostly say the same. */
static void say(tt_random *random, char *all, size_t bytes, int64_t rank_count) {
  for (int64_t r = 0; r < rank_count; r++) {
    char *mine = all + (size_t)r * bytes;
    memset(mine, tt_random_below(random, 2) ? 0 : 7, bytes);
    if (r > 0 && tt_random_below(random, 4) > 0)
      memcpy(mine, mine - bytes, bytes);
    for (uint64_t change = tt_random_below(random, 8); bytes > 0 && change > 0; change--)
      mine[tt_random_below(random, bytes)] = (char)tt_random_below(random, 3);
  }
}

static size_t pack_all(const char *all, size_t bytes, int64_t rank_count, char *packed) {
  size_t used = 0;
  for (int64_t r = 0; r < rank_count; r++) {
    const char *mine = all + (size_t)r * bytes, *before = r > 0 ? mine - bytes : NULL;
    size_t wanted = tt_boot_pack(mine, before, bytes, NULL);
    assert_int_equal(tt_boot_pack(mine, before, bytes, packed + used), wanted);
    used += wanted;
  }
  return used;
}

static void test_what_is_packed_is_unpacked(void **state) {
  (void)state;
  tt_random random;
  tt_random_init(&random, 1);
  char *all = malloc(RANKS_MOST * BYTES_MOST), *again = malloc(RANKS_MOST * BYTES_MOST);
  for (int n = 0; n < ROUNDS; n++) {
    int64_t ranks = 1 + (int64_t)tt_random_below(&random, RANKS_MOST);
    size_t bytes = tt_random_below(&random, n % 2 ? 64 : BYTES_MOST);
    say(&random, all, bytes, ranks);
    char *packed = malloc(2 * (size_t)ranks * (bytes + 8));
    size_t used = pack_all(all, bytes, ranks, packed);
    char *exact = malloc(used + 1); /* so that a sanitizer sees a look beyond it */
    memcpy(exact, packed, used);
    assert_true(tt_boot_unpack(exact, used, again, bytes, ranks));
    assert_memory_equal(again, all, (size_t)ranks * bytes);
    assert_false(tt_boot_unpack(packed, used + 1, again, bytes, ranks));
    if (used > 0)
      assert_false(tt_boot_unpack(exact, tt_random_below(&random, used), again, bytes, ranks));
    free(exact);
    free(packed);
  }
  free(all);
  free(again);
}

static void test_equal_contributions_take_no_room(void **state) {
  (void)state;
  static char mine[2][1000];
  assert_in_range(tt_boot_pack(mine[0], NULL, sizeof mine[0], NULL), 1, 16);
  memset(mine, 5, sizeof mine);
  assert_in_range(tt_boot_pack(mine[1], mine[0], sizeof mine[0], NULL), 1, 16);
  mine[1][3] = mine[1][700] = 0;
  assert_in_range(tt_boot_pack(mine[1], mine[0], sizeof mine[0], NULL), 2, 40);
}

static void test_wrong_bytes_are_refused(void **state) {
  (void)state;
  static const uint32_t wrong[][2] = {{0, 0}, {17, 0}, {0, 17}, {16, 1}, {UINT32_MAX, UINT32_MAX}, {1, UINT32_MAX}};
  char packed[64] = "", all[16];
  for (size_t n = 0; n < TT_COUNT(wrong); n++) {
    memcpy(packed, wrong[n], sizeof wrong[n]);
    assert_false(tt_boot_unpack(packed, sizeof packed, all, sizeof all, 1));
    assert_false(tt_boot_unpack(packed, 4, all, sizeof all, 1));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_packed_is_unpacked),
      cmocka_unit_test(test_equal_contributions_take_no_room),
      cmocka_unit_test(test_wrong_bytes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
