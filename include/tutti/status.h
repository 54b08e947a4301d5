/* tutti/status.h - what every function of tutti returns, and the text of the last error. */
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
  TUTTI_ERR_ARGUMENT = 1,    /* an argument is wrong; the error text names it and its value */
  TUTTI_ERR_MEMORY = 2,      /* memory (ordinary or shared) is exhausted */
  TUTTI_ERR_SYSTEM = 3,      /* the operating system refused something; the text has the call and errno */
  TUTTI_ERR_MISMATCH = 4,    /* ranks called different things; the text names who called what */
  TUTTI_ERR_PEER = 5,        /* a rank died or its connection is lost; the text names it */
  TUTTI_ERR_TIMEOUT = 6,     /* a stated time passed; the text names who is missing */
  TUTTI_ERR_ABORTED = 7,     /* a rank called tutti_comm_abort */
  TUTTI_ERR_UNSUPPORTED = 8, /* legal, but not available here */
  TUTTI_ERR_PLAN = 9,        /* parameters make no plan, or a plan failed its proof */
  TUTTI_ERR_REFUSED = 10     /* a rank called tutti_comm_refuse; the text names it, and the communicator works on */
} tutti_status;

/* A short constant name, "TUTTI_ERR_PEER". Never NULL. Any thread. */
TUTTI_API const char *tutti_status_name(tutti_status status);

/* Text of the last error that this thread got from tutti, "" if none. Valid until its next call into tutti. */
TUTTI_API const char *tutti_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
