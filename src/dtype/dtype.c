/* dtype/dtype.c - which kernel set runs: the best that this processor has, asked from the compiler's run-time library,
 * which looked once when the program was loaded. A row for each set, from the plainest to the best. */
#include "dtype/dtype.h"

#include "dtype/kernels.h"

#include <assert.h>
#include <string.h>

static bool has_always(void) { return true; }

#if defined(__x86_64__)
/* Every processor that has FMA has F16C; not all compilers can ask for the latter. */
static bool has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

static bool has_avx512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && has_avx2();
}
#endif

static const struct {
  const tt_dtype_set *set;
  bool (*has)(void);
} sets[] = {
    {&tt_dtype_portable, has_always},
#if defined(__x86_64__)
    {&tt_dtype_avx2, has_avx2},
    {&tt_dtype_avx512, has_avx512},
#elif defined(__aarch64__)
    {&tt_dtype_neon, has_always},
#endif
};

/* Each set's processors are among those of the set before it. */
size_t tt_dtype_set_count(void) {
  size_t count = TT_COUNT(sets);
  while (!sets[count - 1].has())
    count--;
  return count;
}

const tt_dtype_set *tt_dtype_set_at(size_t set) {
  assert(set < TT_COUNT(sets));
  return sets[set].set;
}

static const tt_dtype_set *best(void) { return sets[tt_dtype_set_count() - 1].set; }

static tt_combine find(const tt_dtype_set *set, tutti_type type, tutti_op op) {
  if (!tutti_op_fits(op, type))
    return NULL;
  size_t kernel = op == TUTTI_AVERAGE ? TUTTI_SUM : op;
  tt_combine own = set->combine[type][kernel];
  tt_combine combine = own ? own : tt_dtype_plain.combine[type][kernel];
  assert(combine); /* what fits has a kernel, in this set or in the plain one */
  return combine;
}

static tt_divide find_divide(const tt_dtype_set *set, tutti_type type) {
  assert(tutti_op_fits(TUTTI_AVERAGE, type));
  assert(set->divide[type] || tt_dtype_plain.divide[type]);
  return set->divide[type] ? set->divide[type] : tt_dtype_plain.divide[type];
}

tt_combine tt_dtype_combine(tutti_type type, tutti_op op) { return find(best(), type, op); }

const char *tt_dtype_kernels(void) { return best()->name; }

const char *tt_dtype_set_name(size_t set) { return tt_dtype_set_at(set)->name; }

tt_combine tt_dtype_set_combine(size_t set, tutti_type type, tutti_op op) {
  return find(tt_dtype_set_at(set), type, op);
}

tt_divide tt_dtype_set_divide(size_t set, tutti_type type) { return find_divide(tt_dtype_set_at(set), type); }

void tt_dtype_divide(tutti_type type, void *data, size_t count, int64_t divisor) {
  assert(divisor > 0);
  find_divide(best(), type)(data, count, divisor);
}

bool tt_dtype_has_image(tutti_type type) {
  return (size_t)type < TUTTI_TYPE_COUNT && tt_dtype_portable.widen[type] != NULL;
}

void tt_dtype_widen(tutti_type type, float *to, const void *from, size_t count) {
  assert(tt_dtype_has_image(type));
  best()->widen[type](to, from, count);
}

void tt_dtype_narrow(tutti_type type, void *to, const float *from, size_t count) {
  assert(tt_dtype_has_image(type));
  best()->narrow[type](to, from, count);
}

void tt_dtype_copy(void *to, const void *from, size_t bytes, bool nontemporal) {
  assert((uintptr_t)to + bytes <= (uintptr_t)from || (uintptr_t)from + bytes <= (uintptr_t)to);
  if (nontemporal && bytes >= TT_DTYPE_COPY_MINIMUM)
    best()->copy(to, from, bytes);
  else if (bytes > 0)
    tt_copy(to, from, bytes);
}
