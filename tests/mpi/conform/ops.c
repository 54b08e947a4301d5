/* tests/mpi/conform/ops.c - the table of operators, and arithmetic on elements; see element.h. */
#include "element.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* ---- operators ---- */

enum {
  INTEGERS = CLASS_INTEGER | CLASS_COUNTING,
  ORDERED = INTEGERS | CLASS_FLOAT,
  SUMMED = ORDERED | CLASS_COMPLEX,
  TRUTHS = CLASS_INTEGER | CLASS_LOGICAL,
  BITS = INTEGERS | CLASS_BYTE
};

typedef struct op_row {
  const char *name;
  MPI_Op op; /* of ours: made at the start */
  unsigned classes;
} op_row;

static op_row ops[OP_COUNT] = {
    [OP_MAX] = {"MPI_MAX", MPI_MAX, ORDERED},
    [OP_MIN] = {"MPI_MIN", MPI_MIN, ORDERED},
    [OP_SUM] = {"MPI_SUM", MPI_SUM, SUMMED},
    [OP_PROD] = {"MPI_PROD", MPI_PROD, SUMMED},
    [OP_LAND] = {"MPI_LAND", MPI_LAND, TRUTHS},
    [OP_LOR] = {"MPI_LOR", MPI_LOR, TRUTHS},
    [OP_LXOR] = {"MPI_LXOR", MPI_LXOR, TRUTHS},
    [OP_BAND] = {"MPI_BAND", MPI_BAND, BITS},
    [OP_BOR] = {"MPI_BOR", MPI_BOR, BITS},
    [OP_BXOR] = {"MPI_BXOR", MPI_BXOR, BITS},
    [OP_MAXLOC] = {"MPI_MAXLOC", MPI_MAXLOC, CLASS_PAIR},
    [OP_MINLOC] = {"MPI_MINLOC", MPI_MINLOC, CLASS_PAIR},
    [OP_OWN_SUM] = {"own sum", MPI_OP_NULL, SUMMED},
    [OP_OWN_FIRST] = {"own first", MPI_OP_NULL, SUMMED | CLASS_PAIR},
    [OP_OWN_AFFINE] = {"own affine", MPI_OP_NULL, CLASS_AFFINE},
};

const char *element_op_name(op_number op) { return ops[op].name; }
MPI_Op element_op(op_number op) { return ops[op].op; }
bool element_op_allows(op_number op, element_class class) { return (ops[op].classes & class) != 0; }

static void own_apply(op_number op, const char *in, char *in_out, int count, MPI_Datatype type) {
  const base_type *of = element_base_of(type);
  if (of == NULL)
    abort(); /* an operator gets the type of its call */
  for (int k = 0; k < count; k++, in += of->extent, in_out += of->extent)
    element_write(of, element_join(of, op, element_read(of, in), element_read(of, in_out)), in_out);
}

static void own_sum(void *in, void *in_out, int *count, MPI_Datatype *type) {
  own_apply(OP_OWN_SUM, in, in_out, *count, *type);
}
static void own_first(void *in, void *in_out, int *count, MPI_Datatype *type) {
  own_apply(OP_OWN_FIRST, in, in_out, *count, *type);
}
static void own_affine(void *in, void *in_out, int *count, MPI_Datatype *type) {
  own_apply(OP_OWN_AFFINE, in, in_out, *count, *type);
}

void element_ops_begin(void) {
  MPI_Op_create(own_sum, true, &ops[OP_OWN_SUM].op);
  MPI_Op_create(own_first, false, &ops[OP_OWN_FIRST].op);
  MPI_Op_create(own_affine, false, &ops[OP_OWN_AFFINE].op);
}

void element_ops_end(void) {
  for (int op = OP_OWN_SUM; op < OP_COUNT; op++)
    MPI_Op_free(&ops[op].op);
}

/* ---- values ---- */

static long double number(const base_type *of, op_number op, uint64_t bits) {
  bool sign = of->format != FORMAT_UNSIGNED, wide = of->bytes == 8 && of->format != FORMAT_FLOAT;
  switch (op) {
  case OP_PROD:
    return (sign && bits & 1 ? -1 : 1) * (bits & 6 ? 1 : 2);
  case OP_LAND:
  case OP_LOR:
  case OP_LXOR:
    return bits % 3 != 0;
  case OP_BAND:
  case OP_BOR:
  case OP_BXOR:
    return (long double)(bits & (((uint64_t)1 << (8 * of->bytes - 1)) - 1));
  case OP_MAXLOC:
  case OP_MINLOC:
    return bits % 3; /* some are equal: the index decides */
  case OP_OWN_AFFINE:
    return (long double)(bits & UINT32_MAX);
  case OP_SUM:
  case OP_OWN_SUM:
    return ((int)(bits % 7) - (sign ? 3 : 0)) * (wide ? 0x1p33L : 1);
  default:
    return (int)(bits % 101) - (sign ? 50 : 0);
  }
}

/* Of complex numbers: 1 + 2i turned by right angles. No power of it has a part that is zero, whose sign would depend on
 * the order of operands. */
static element turned(uint64_t bits) {
  static const int parts[4][2] = {{1, 2}, {-2, 1}, {-1, -2}, {2, -1}};
  return (element){parts[bits % 4][0], parts[bits % 4][1]};
}

element element_input(const base_type *of, op_number op, uint64_t seed) {
  uint64_t bits = mixed(seed, 1) >> 8;
  if (op == OP_PROD && of->class == CLASS_COMPLEX)
    return turned(bits);
  element made = {number(of, op, bits), 0};
  if (of->second_bytes > 0)
    made.second = of->class == CLASS_PAIR ? (long double)(bits >> 20 & 7) : number(of, op, bits >> 20);
  return made;
}

static element affine_join(element left, element right) { /* right is applied first */
  uint32_t a = (uint32_t)left.first, b = (uint32_t)left.second;
  uint32_t c = (uint32_t)right.first, d = (uint32_t)right.second;
  return (element){(uint32_t)(a * c), (uint32_t)(a * d + b)};
}

static element pick(element left, element right, bool first) {
  bool take_right = left.first != right.first ? (right.first < left.first) == first : right.second < left.second;
  return take_right ? right : left;
}

element element_join(const base_type *of, op_number op, element a, element b) {
  long double x = a.first, y = b.first;
  switch (op) {
  case OP_MAX:
    return x < y ? b : a;
  case OP_MIN:
    return y < x ? b : a;
  case OP_SUM:
  case OP_OWN_SUM:
    return (element){x + y, a.second + b.second};
  case OP_PROD:
    return of->class != CLASS_COMPLEX ? (element){x * y, 0}
                                      : (element){x * y - a.second * b.second, x * b.second + a.second * y};
  case OP_LAND:
    return (element){x != 0 && y != 0, 0};
  case OP_LOR:
    return (element){x != 0 || y != 0, 0};
  case OP_LXOR:
    return (element){(x != 0) != (y != 0), 0};
  case OP_BAND:
    return (element){(long double)((int64_t)x & (int64_t)y), 0};
  case OP_BOR:
    return (element){(long double)((int64_t)x | (int64_t)y), 0};
  case OP_BXOR:
    return (element){(long double)((int64_t)x ^ (int64_t)y), 0};
  case OP_MAXLOC:
  case OP_MINLOC:
    return pick(a, b, op == OP_MINLOC);
  case OP_OWN_AFFINE:
    return affine_join(a, b);
  default:
    return a; /* the first */
  }
}

/* ---- memory ---- */

enum { EXTENDED_BYTES = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double) };

static void write_number(element_format format, size_t bytes, long double number, void *to) {
  float single = (float)number;
  double middle = (double)number;
  int64_t whole = (int64_t)number; /* little endian: the lower bytes are the narrower number */
  memset(to, 0, bytes);
  if (format != FORMAT_FLOAT)
    memcpy(to, &whole, bytes);
  else if (bytes == sizeof single)
    memcpy(to, &single, bytes);
  else if (bytes == sizeof middle)
    memcpy(to, &middle, bytes);
  else
    memcpy(to, &number, EXTENDED_BYTES);
}

static long double read_number(element_format format, size_t bytes, const void *from) {
  float single = 0;
  double middle = 0;
  long double extended = 0;
  int64_t whole = 0;
  void *to = format != FORMAT_FLOAT   ? (void *)&whole
             : bytes == sizeof single ? (void *)&single
             : bytes == sizeof middle ? (void *)&middle
                                      : (void *)&extended;
  memcpy(to, from, bytes);
  int shift = 64 - 8 * (int)bytes;
  if (format == FORMAT_SIGNED)
    whole = (int64_t)((uint64_t)whole << shift) >> shift;
  return format != FORMAT_FLOAT ? (long double)whole : (long double)single + (long double)middle + extended;
}

void element_write(const base_type *of, element value, void *to) {
  write_number(of->format, of->bytes, value.first, to);
  if (of->second_bytes > 0)
    write_number(of->second_format, of->second_bytes, value.second, (char *)to + of->second_at);
}

element element_read(const base_type *of, const void *from) {
  element value = {read_number(of->format, of->bytes, from), 0};
  if (of->second_bytes > 0)
    value.second = read_number(of->second_format, of->second_bytes, (const char *)from + of->second_at);
  return value;
}

static void write_bits(unsigned char *to, size_t bytes, uint64_t seed) {
  uint64_t words[2] = {mixed(seed, 2), mixed(seed, 3)};
  memcpy(to, words, bytes);
}

void element_write_bits(const base_type *of, uint64_t seed, unsigned char *to) {
  write_bits(to, of->bytes, seed);
  if (of->second_bytes > 0)
    write_bits(to + of->second_at, of->second_bytes, ~seed);
  element_clear_padding(of, to);
}

static void clear_number(element_format format, size_t bytes, unsigned char *at) {
  if (format == FORMAT_FLOAT && bytes == sizeof(long double))
    memset(at + EXTENDED_BYTES, 0, bytes - EXTENDED_BYTES);
}

static void clear_gaps(const base_type *of, unsigned char *at) {
  size_t end = of->second_bytes > 0 ? of->second_at + of->second_bytes : of->bytes;
  if (of->second_bytes > 0)
    memset(at + of->bytes, 0, of->second_at - of->bytes);
  memset(at + end, 0, of->extent - end);
}

void element_clear_padding(const base_type *of, unsigned char *at) {
  clear_number(of->format, of->bytes, at);
  clear_number(of->second_format, of->second_bytes, at + of->second_at);
}

void element_clear_reduced(const base_type *of, unsigned char *at) {
  element_clear_padding(of, at);
  if (of->class == CLASS_PAIR)
    clear_gaps(of, at);
}
