/* bindings/mpi/settings.c - the interposer's environment variables: TUTTI_MPI, TUTTI_MPI_ONLY, TUTTI_MPI_TRANSPORT,
 * TUTTI_STATS. */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
#define NAME(upper, text) text,
    TT_MPI_COLLECTIVES(NAME)
#undef NAME
};

const char *tt_mpi_collective_name(tt_mpi_collective collective) { return names[collective]; }

/* NULL: not set, or empty. */
static const char *value_of(const char *name) {
  const char *value = getenv(name);
  return value && *value ? value : NULL;
}

/* The number of the value in a list that ends with NULL; of the first, which holds where nothing is said. */
static int read_choice(const char *name, const char *const *values, bool complain) {
  const char *value = value_of(name);
  for (int n = 0; value && values[n]; n++)
    if (strcmp(value, values[n]) == 0)
      return n;
  if (!value || !complain)
    return 0;
  fprintf(stderr, "tutti: %s: '%s' is none of", name, value);
  for (int n = 0; values[n]; n++)
    fprintf(stderr, "%s%s", n ? ", " : " ", values[n]);
  fprintf(stderr, "; using '%s'\n", values[0]);
  return 0;
}

static int find_name(const char *text, size_t length) {
  for (int n = 0; n < TT_MPI_COLLECTIVE_COUNT; n++)
    if (strlen(names[n]) == length && strncmp(names[n], text, length) == 0)
      return n;
  return -1;
}

static uint64_t read_only(bool complain) {
  const char *text = value_of("TUTTI_MPI_ONLY");
  uint64_t only = 0;
  if (!text)
    return UINT64_MAX;
  for (; *text; text += strspn(text, ",")) {
    size_t length = strcspn(text, ",");
    int found = find_name(text, length);
    if (found >= 0)
      only |= UINT64_C(1) << found;
    else if (complain && length > 0)
      fprintf(stderr, "tutti: TUTTI_MPI_ONLY: '%.*s' is not a collective\n", (int)length, text);
    text += length;
  }
  return only;
}

static const char *read_statistics(void) {
  const char *value = value_of("TUTTI_STATS");
  return value && strcmp(value, "0") != 0 ? value : NULL;
}

tt_mpi_settings tt_mpi_settings_read(bool complain) {
  enum { ON, OFF, ALWAYS };
  int mpi = read_choice("TUTTI_MPI", (const char *const[]){"on", "off", "always", NULL}, complain);
  return (tt_mpi_settings){
      .off = mpi == OFF,
      .always = mpi == ALWAYS,
      .tcp = read_choice("TUTTI_MPI_TRANSPORT", (const char *const[]){"mpi", "tcp", NULL}, complain) == 1,
      .only = read_only(complain),
      .statistics = read_statistics()};
}
