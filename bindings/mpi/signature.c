/* bindings/mpi/signature.c - what the data of a type is: MPI's type signature, which has to be equal at both ends.
 *
 * A signature is the sequence of the basic types, whatever their places. Where all are alike, as mostly, it is their
 * name; else a polynomial hash, since that of a sequence after another one follows from both, and that of n times the
 * same in log n steps.
 *     hash(a b) = hash(a) + step(a) * hash(b),   step(a b) = step(a) * step(b),   step of one = BASE
 * Programs that work stay legal, even where MPI has another opinion: integers of one length are alike, complex numbers
 * are two real ones, and single bytes (of whatever type), MPI_PACKED and what tutti does not know go with anything. */
#include "signature.h"

#define BASE UINT64_C(0x9e3779b97f4a7c15)
#define MIXED INT32_MAX
#define EMPTY (-1)
#define ANY 0
#define OF(type) (1 + (type)) /* as tutti_type_of_bytes takes it */

/* ---- of basic types ---- */

static const int32_t parts[TUTTI_TYPE_COUNT][2] = {
    [TUTTI_INT16] = {OF(TUTTI_INT16)},
    [TUTTI_UINT16] = {OF(TUTTI_INT16)},
    [TUTTI_INT32] = {OF(TUTTI_INT32)},
    [TUTTI_UINT32] = {OF(TUTTI_INT32)},
    [TUTTI_INT64] = {OF(TUTTI_INT64)},
    [TUTTI_UINT64] = {OF(TUTTI_INT64)},
    [TUTTI_FLOAT32] = {OF(TUTTI_FLOAT32)},
    [TUTTI_FLOAT64] = {OF(TUTTI_FLOAT64)},
    [TUTTI_LONG_DOUBLE] = {OF(TUTTI_LONG_DOUBLE)},
    [TUTTI_COMPLEX64] = {OF(TUTTI_FLOAT32), OF(TUTTI_FLOAT32)},
    [TUTTI_COMPLEX128] = {OF(TUTTI_FLOAT64), OF(TUTTI_FLOAT64)},
    [TUTTI_LONG_DOUBLE_COMPLEX] = {OF(TUTTI_LONG_DOUBLE), OF(TUTTI_LONG_DOUBLE)},
    [TUTTI_FLOAT32_INT32] = {OF(TUTTI_FLOAT32), OF(TUTTI_INT32)},
    [TUTTI_FLOAT64_INT32] = {OF(TUTTI_FLOAT64), OF(TUTTI_INT32)},
    [TUTTI_INT16_INT32] = {OF(TUTTI_INT16), OF(TUTTI_INT32)},
    [TUTTI_INT32_INT32] = {OF(TUTTI_INT32), OF(TUTTI_INT32)},
    [TUTTI_INT64_INT32] = {OF(TUTTI_INT64), OF(TUTTI_INT32)},
    [TUTTI_LONG_DOUBLE_INT32] = {OF(TUTTI_LONG_DOUBLE), OF(TUTTI_INT32)},
};

static const tt_mpi_signature any = {.meaning = ANY}, empty = {.meaning = EMPTY, .step = 1};

static tt_mpi_signature one(int32_t meaning) {
  uint64_t mixed = (uint64_t)meaning * UINT64_C(0xbf58476d1ce4e5b9);
  return (tt_mpi_signature){.meaning = meaning, .hash = mixed ^ mixed >> 29, .step = BASE};
}

/* ---- of sequences ---- */

tt_mpi_signature tt_mpi_signature_join(tt_mpi_signature a, tt_mpi_signature b) {
  if (a.meaning == ANY || b.meaning == ANY)
    return any;
  int32_t meaning = a.meaning == EMPTY ? b.meaning : b.meaning == EMPTY || a.meaning == b.meaning ? a.meaning : MIXED;
  return (tt_mpi_signature){.meaning = meaning, .hash = a.hash + a.step * b.hash, .step = a.step * b.step};
}

tt_mpi_signature tt_mpi_signature_repeat(tt_mpi_signature of, int64_t count) {
  tt_mpi_signature all = empty;
  for (; count > 0; count >>= 1) {
    if (count & 1)
      all = tt_mpi_signature_join(all, of);
    of = tt_mpi_signature_join(of, of);
  }
  return all;
}

tt_mpi_signature tt_mpi_signature_basic(tutti_type element) {
  const int32_t *part = element < TUTTI_TYPE_COUNT ? parts[element] : parts[TUTTI_BYTE];
  if (part[0] == ANY)
    return any;
  return part[1] == ANY ? one(part[0]) : tt_mpi_signature_join(one(part[0]), one(part[1]));
}

tt_mpi_signature tt_mpi_signature_empty(void) { return empty; }

tt_mpi_signature tt_mpi_signature_any(void) { return any; }

bool tt_mpi_signature_is_any(const tt_mpi_signature *of) { return of->meaning == ANY; }

/* ---- as tutti is told ---- */

bool tt_mpi_signature_is_mixed(const tt_mpi_signature *of) { return of->meaning == MIXED; }

tutti_type tt_mpi_signature_type(const tt_mpi_signature *of, int64_t count) {
  if (count == 0 || of->meaning <= ANY)
    return TUTTI_BYTE;
  if (of->meaning != MIXED)
    return tutti_type_of_bytes(of->meaning);
  uint64_t hash = tt_mpi_signature_repeat(*of, count).hash * BASE >> 32;
  return tutti_type_of_bytes(OF(TUTTI_TYPE_COUNT) + (int32_t)(hash % (UINT16_MAX - TUTTI_TYPE_COUNT)));
}

const char *tt_mpi_signature_name(const tt_mpi_signature *of) {
  return of->meaning > ANY && of->meaning != MIXED ? tutti_type_name((tutti_type)(of->meaning - OF(0)))
                                                   : "mixed elements";
}
