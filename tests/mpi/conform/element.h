/* tests/mpi/conform/element.h - element types of MPI: small numbers in each of them, and what they combine to.
 *
 *     element    two numbers: a value, and an imaginary part or an index or nothing
 *     base       a type of MPI or of ours: where the two numbers lie in memory
 *     reduction  a type and an operator that MPI allows together, operators of ours too
 *
 * All inputs are small whole numbers, so that every result has one right value to the bit in any order of operands that
 * the operator allows. Integers wrap. */
#ifndef TEST_MPI_ELEMENT_H
#define TEST_MPI_ELEMENT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct element {
  long double first, second;
} element;

typedef enum element_format { FORMAT_NONE, FORMAT_SIGNED, FORMAT_UNSIGNED, FORMAT_FLOAT } element_format;

/* Decides which operators are allowed. */
typedef enum element_class {
  CLASS_MOVED = 0, /* none */
  CLASS_INTEGER = 1,
  CLASS_COUNTING = 2, /* Fortran's integers, and those for addresses and sizes */
  CLASS_FLOAT = 4,
  CLASS_LOGICAL = 8,
  CLASS_COMPLEX = 16,
  CLASS_BYTE = 32,
  CLASS_PAIR = 64,
  CLASS_AFFINE = 128 /* ours: x -> first * x + second, joined by composition, which does not commute */
} element_class;

typedef struct base_type {
  const char *name;
  MPI_Datatype type;
  element_class class;
  element_format format, second_format;
  size_t bytes, second_bytes; /* 0: there is no second number */
  size_t second_at;
  size_t extent;
} base_type;

typedef enum op_number {
  OP_MAX,
  OP_MIN,
  OP_SUM,
  OP_PROD,
  OP_LAND,
  OP_LOR,
  OP_LXOR,
  OP_BAND,
  OP_BOR,
  OP_BXOR,
  OP_MAXLOC,
  OP_MINLOC,
  OP_OWN_SUM,   /* commutes */
  OP_OWN_FIRST, /* these do not */
  OP_OWN_AFFINE,
  OP_COUNT
} op_number;

typedef struct reduction {
  const base_type *base;
  op_number op;
} reduction;

/* ---- types.c ---- */

/* What is ours of types and operators. */
void element_begin(void);
void element_end(void);
/* Types that this MPI has, and all that it can reduce. */
int element_base_count(void);
const base_type *element_base(int index);
const base_type *element_base_of(MPI_Datatype type);
int element_reduction_count(void);
reduction element_reduction(int index);

/* ---- ops.c ---- */

void element_ops_begin(void);
void element_ops_end(void);
MPI_Op element_op(op_number op);
const char *element_op_name(op_number op);
bool element_op_allows(op_number op, element_class class);

element element_input(const base_type *base, op_number op, uint64_t seed);
element element_join(const base_type *base, op_number op, element left, element right);
void element_write(const base_type *base, element of, void *to);
element element_read(const base_type *base, const void *from);
/* Elements that are only moved have any bits. */
void element_write_bits(const base_type *base, uint64_t seed, unsigned char *to);
/* Zero in those bytes of a number that do not belong to its value: MPIs need not move them. Where a pair of MPI's was
 * reduced, between its numbers too: an operator may assign a whole struct. */
void element_clear_padding(const base_type *base, unsigned char *at);
void element_clear_reduced(const base_type *base, unsigned char *at);

/* A seed of two. */
static inline uint64_t mixed(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u + b;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

#endif
