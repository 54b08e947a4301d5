/* boot/pmi.c - the launcher's store by PMI-1 or PMI-2: mpiexec of MPICH, srun --mpi=pmi2.
 *
 * An allgather is a put, a fence and a get of each rank's value; a value that is long goes in parts. MPI may use the
 * same socket: requests and replies of both can alternate in PMI-1, where beginning twice does no harm, and then the
 * end is MPI's. A PMI-2 server takes a second beginning for garbage: where there is MPI, tutti leaves it alone. */
#include "boot/pmi.h"
#include "boot/launcher.h"
#include "boot/wire.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FINISH_NS 1000000000

/* ---- text for bytes: base64, of letters that mean nothing in either dialect ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static size_t text_length(size_t bytes) { return (bytes * 4 + 2) / 3; }

static void encode(const unsigned char *bytes, size_t size, char *text) {
  for (size_t at = 0; at < size; at += 3) {
    uint32_t three = 0;
    for (size_t b = 0; b < 3; b++)
      three = three << 8 | (at + b < size ? bytes[at + b] : 0);
    for (size_t d = 0; d < 4 && at + d <= size; d++)
      *text++ = digits[three >> (18 - 6 * d) & 63];
  }
  *text = '\0';
}

/* text has text_length(size) characters; false: others than digits. */
static bool decode(const char *text, unsigned char *bytes, size_t size) {
  assert(strlen(text) == text_length(size));
  uint32_t window = 0;
  int bits = 0;
  for (size_t done = 0; *text != '\0'; text++) {
    const char *digit = strchr(digits, *text);
    if (digit == NULL)
      return false;
    window = window << 6 | (uint32_t)(digit - digits);
    bits += 6;
    if (bits >= 8 && done < size) {
      bits -= 8;
      bytes[done++] = (unsigned char)(window >> bits);
    }
  }
  return true;
}

/* ---- the allgather ---- */

static void make_key(const tt_pmi *pmi, int64_t rank, size_t part, char key[static TT_PMI_KEY]) {
  snprintf(key, TT_PMI_KEY, "tutti-%" PRIx64 "-%" PRIx64 "-%zx", pmi->round_count, rank, part);
}

static size_t part_bytes(const tt_pmi *pmi) { return pmi->value_length / 4 * 3; }
static size_t part_size(const tt_pmi *pmi, size_t bytes, size_t at) {
  return bytes - at < part_bytes(pmi) ? bytes - at : part_bytes(pmi);
}

static tutti_status put_all(tt_pmi *pmi, const unsigned char *mine, size_t bytes, int64_t until_ns) {
  char key[TT_PMI_KEY], value[TT_PMI_VALUE];
  assert(part_bytes(pmi) > 0 && text_length(part_bytes(pmi)) < sizeof value);
  tutti_status status = TUTTI_OK;
  for (size_t at = 0; at < bytes && status == TUTTI_OK; at += part_bytes(pmi)) {
    make_key(pmi, pmi->rank, at / part_bytes(pmi), key);
    encode(mine + at, part_size(pmi, bytes, at), value);
    status = pmi->dialect->put(pmi, key, value, until_ns);
  }
  return status;
}

static tutti_status get_part(tt_pmi *pmi, int64_t rank, size_t part, unsigned char *bytes, size_t size,
                             int64_t until_ns) {
  char key[TT_PMI_KEY], value[TT_PMI_VALUE];
  make_key(pmi, rank, part, key);
  tutti_status status = pmi->dialect->get(pmi, key, until_ns);
  if (status == TUTTI_ERR_PEER && pmi->broken == TUTTI_OK)
    return tt_fail(TUTTI_ERR_PEER, "rank %" PRId64 " has put nothing into the launcher's PMI server", rank);
  if (status != TUTTI_OK)
    return status;
  if (!tt_pmi_field(pmi, "value", value, sizeof value) || strlen(value) != text_length(size) ||
      !decode(value, bytes, size))
    return tt_fail(TUTTI_ERR_MISMATCH, "rank %" PRId64 " contributes something other than %zu bytes in part %zu", rank,
                   size, part);
  return TUTTI_OK;
}

static tutti_status get_all(tt_pmi *pmi, unsigned char *all, size_t bytes, int64_t until_ns) {
  tutti_status status = TUTTI_OK;
  for (int64_t rank = 0; rank < pmi->rank_count; rank++)
    for (size_t at = 0; at < bytes && status == TUTTI_OK; at += part_bytes(pmi))
      status = get_part(pmi, rank, at / part_bytes(pmi), all + (size_t)rank * bytes + at, part_size(pmi, bytes, at),
                        until_ns);
  return status;
}

tutti_status tt_pmi_allgather(tt_pmi *pmi, const void *mine, void *all, size_t bytes, int64_t timeout_ns) {
  int64_t until_ns = tt_clock_until(timeout_ns);
  if (bytes > TT_BOOT_BYTES_MAXIMUM)
    return tt_fail(TUTTI_ERR_ARGUMENT, "allgather of %zu bytes a rank; the limit is %u", bytes, TT_BOOT_BYTES_MAXIMUM);
  tutti_status status = put_all(pmi, mine, bytes, until_ns);
  if (status != TUTTI_OK)
    return status;
  status = pmi->dialect->fence(pmi, until_ns);
  if (status == TUTTI_ERR_TIMEOUT)
    return tt_fail(status, "a rank did not reach the launcher's fence; PMI does not say which");
  if (status == TUTTI_OK)
    status = get_all(pmi, all, bytes, until_ns);
  pmi->round_count++;
  return status;
}

/* ---- the beginning ---- */

/* Both dialects begin with a line. */
static tutti_status negotiate(tt_pmi *pmi, int version, int64_t until_ns) {
  char code[16] = "", said[16] = "";
  tutti_status status = tt_pmi_ask(pmi, until_ns, "response_to_init", "cmd=init pmi_version=%d pmi_subversion=%d\n",
                                   version, version == 1);
  if (status != TUTTI_OK)
    return status;
  bool right = tt_pmi_field(pmi, "rc", code, sizeof code) && strcmp(code, "0") == 0 &&
               tt_pmi_field(pmi, "pmi_version", said, sizeof said) && atoi(said) == version;
  if (!right)
    return tt_fail(TUTTI_ERR_SYSTEM, "the launcher's PMI server speaks neither PMI-1 nor PMI-2");
  pmi->dialect = version == 1 ? &tt_pmi_1 : &tt_pmi_2;
  return TUTTI_OK;
}

static tutti_status find_socket(tt_pmi *pmi) {
  struct stat facts;
  if (fstat(pmi->fd, &facts) != 0 || !S_ISSOCK(facts.st_mode))
    return tt_fail(
        TUTTI_ERR_SYSTEM,
        "PMI_FD is %d, but that is not a socket: MPI closed it, or a program between the launcher and this one did",
        pmi->fd);
  pmi->socket = (uint64_t)facts.st_ino;
  return TUTTI_OK;
}

tutti_status tt_pmi_start(tt_pmi *pmi, int fd, int version, int64_t rank, int64_t rank_count, int64_t timeout_ns) {
  int64_t until_ns = tt_clock_until(timeout_ns);
  *pmi = (tt_pmi){.fd = fd, .rank = rank, .rank_count = rank_count};
  tutti_status status = find_socket(pmi);
  if (status != TUTTI_OK)
    return status;
  status = negotiate(pmi, version, until_ns);
  if (status != TUTTI_OK && pmi->broken == TUTTI_OK)
    status = negotiate(pmi, 3 - version, until_ns);
  if (status == TUTTI_OK)
    status = pmi->dialect->start(pmi, until_ns);
  if (status == TUTTI_OK && part_bytes(pmi) == 0)
    return tt_pmi_break(pmi, TUTTI_ERR_SYSTEM, "allows values of %zu characters only", pmi->value_length);
  return status;
}

/* ---- the process's conversation ---- */

static tt_pmi job;

typedef enum mpi_state { NO_MPI, MPI_LOADED, MPI_BEGUN } mpi_state;

/* Of an MPI in this process, whichever it is. What has been loaded for one library alone, as Python does, is found by
 * its file's name. */
static void *find_initialized(bool *local) {
  static const char *const files[] = {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12", "libmpi.so.80"};
  void *symbol = dlsym(RTLD_DEFAULT, "MPI_Initialized");
  *local = symbol == NULL;
  for (size_t n = 0; n < TT_COUNT(files) && symbol == NULL; n++) {
    void *library = dlopen(files[n], RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL) {
      symbol = dlsym(library, "MPI_Initialized");
      dlclose(library); /* as often as it was opened here; it stays */
    }
  }
  return symbol;
}

static mpi_state find_mpi(void) {
  int (*initialized)(int *flag) = NULL;
  int flag = 0;
  bool local;
  void *symbol = find_initialized(&local);
  if (symbol == NULL)
    return NO_MPI;
  memcpy(&initialized, &symbol, sizeof symbol);
  bool begun = initialized(&flag) == 0 && flag != 0;
  return begun ? MPI_BEGUN : local ? NO_MPI : MPI_LOADED; /* some library's that nobody may ever begin */
}

/* Where MPI has begun, it says the last word. */
static void end(void) {
  if (job.broken == TUTTI_OK && tt_pmi_has_socket(&job) && find_mpi() != MPI_BEGUN)
    job.dialect->finish(&job, tt_clock_ns() + FINISH_NS);
}

/* A whole number >= minimum, the value of environment variable `name`; an error names both. */
static tutti_status read_number(const char *name, int64_t minimum, int64_t *number) {
  const char *text = getenv(name);
  if (text == NULL)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s is not in the environment", name);
  char *end;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || value < minimum)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s is '%s'; expected an integer >= %" PRId64, name, text, minimum);
  *number = value;
  return TUTTI_OK;
}

static tutti_status read_environment(int64_t *fd, int64_t *rank, int64_t *rank_count) {
  tutti_status status = read_number("PMI_FD", 0, fd);
  if (status == TUTTI_OK)
    status = read_number("PMI_RANK", 0, rank);
  if (status == TUTTI_OK)
    status = read_number("PMI_SIZE", 1, rank_count);
  if (status == TUTTI_OK && *fd > INT32_MAX)
    return tt_fail(TUTTI_ERR_ARGUMENT, "PMI_FD is %" PRId64 ", which is not a descriptor", *fd);
  if (status == TUTTI_OK && *rank >= *rank_count)
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "PMI_RANK is %" PRId64 ", which is not a rank of a job of %" PRId64 " (PMI_SIZE)", *rank,
                   *rank_count);
  return status;
}

static tutti_status begin(int64_t timeout_ns, int64_t *rank, int64_t *rank_count) {
  int64_t fd = -1;
  tutti_status status = read_environment(&fd, rank, rank_count);
  if (status != TUTTI_OK)
    return status;
  int version = getenv("PMI_JOBID") != NULL ? 2 : 1; /* set by servers that prefer PMI-2 */
  if (version == 2 && find_mpi() != NO_MPI)
    return tt_fail(TUTTI_ERR_SYSTEM,
                   "a PMI-2 connection to the launcher (PMI_FD) serves either MPI or tutti, and this program contains "
                   "MPI: start it with PMIx (srun --mpi=pmix), or set options->boot");
  return tt_pmi_start(&job, (int)fd, version, *rank, *rank_count, timeout_ns);
}

static tutti_status allgather(const void *mine, void *all, size_t bytes, int64_t timeout_ns, char *missing,
                              size_t missing_size) {
  tutti_status status = tt_pmi_allgather(&job, mine, all, bytes, timeout_ns);
  if (status == TUTTI_ERR_TIMEOUT && missing_size > 0)
    snprintf(missing, missing_size, "unknown (PMI does not say which)");
  return status;
}

tutti_status tt_boot_open_pmi(int64_t timeout_ns, tt_boot **boot) {
  static const tt_boot_shared launcher = {begin, allgather, end};
  return tt_boot_share(&launcher, timeout_ns, boot);
}
