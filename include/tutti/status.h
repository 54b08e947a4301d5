/* tutti/status.h - the status that functions return, and the text of the last error. */
#ifndef TUTTI_STATUS_H
#define TUTTI_STATUS_H

#if defined(__GNUC__)
#define TUTTI_API __attribute__((visibility("default")))
#else
#define TUTTI_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tutti_status {
  TUTTI_OK = 0,
  TUTTI_ERR_ARGUMENT = 1,    /* an argument is wrong; the text names it and its value */
  TUTTI_ERR_MEMORY = 2,      /* memory (ordinary or shared) is exhausted */
  TUTTI_ERR_SYSTEM = 3,      /* a system call failed; the text has the call and errno */
  TUTTI_ERR_MISMATCH = 4,    /* ranks called different things; the text says which rank called what */
  TUTTI_ERR_PEER = 5,        /* a rank died or its connection is lost; the text names the rank */
  TUTTI_ERR_TIMEOUT = 6,     /* a time limit passed; the text names the missing ranks */
  TUTTI_ERR_ABORTED = 7,     /* a rank called tutti_comm_abort */
  TUTTI_ERR_UNSUPPORTED = 8, /* legal, but not available here */
  TUTTI_ERR_PLAN = 9,        /* the parameters do not make a plan, or a plan failed its proof */
  TUTTI_ERR_REFUSED = 10     /* a rank called tutti_comm_refuse; the text names it; the communicator still works */
} tutti_status;

/* The name of a status, such as "TUTTI_ERR_PEER": a constant, never NULL. Any thread may call it. */
TUTTI_API const char *tutti_status_name(tutti_status status);

/* The version of the library that runs, as TUTTI_VERSION is that of the headers: a constant. Any thread may call it. */
TUTTI_API const char *tutti_version(void);

/* The text of the last error that tutti returned in this thread; "" if there was none. Valid until the thread's next
 * call into tutti. */
TUTTI_API const char *tutti_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
