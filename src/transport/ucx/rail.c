/* transport/ucx/rail.c - a context and a worker for each NIC, and sleeping on all of them.
 *
 * UCX wakes who has armed a worker, and arming fails as long as there is something to do. So asking for the descriptor
 * arms: the answer is an epoll of all workers' descriptors, or one that is readable at once. */
#include "transport/ucx/device.h"
#include "transport/ucx/pipes.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { ROUNDS = 16 }; /* that one look takes, while UCX has something to do */

static tutti_status fail(const tt_ucx_pipes *pipes, const char *call, const char *nic, ucs_status_t status) {
  return tt_fail(TUTTI_ERR_SYSTEM, "UCX on NIC %s: %s failed: %s", nic, call, pipes->ucp.text(status));
}

/* ---- opening ---- */

/* Of UCX's own environment, but for the NIC. */
static tutti_status open_context(tt_ucx_pipes *pipes, tt_ucx_rail *rail) {
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_ESTIMATED_NUM_EPS,
                               .features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP,
                               .estimated_num_eps = (size_t)pipes->rank_count};
  char devices[TT_UCX_DEVICES_BYTES];
  ucp_config_t *config = NULL;
  tt_ucx_device_names("/sys/class/net", rail->nic, devices);
  ucs_status_t status = pipes->ucp.config_read(NULL, NULL, &config);
  if (status != UCS_OK)
    return fail(pipes, "ucp_config_read", rail->nic, status);
  status = pipes->ucp.config_modify(config, "NET_DEVICES", devices);
  if (status == UCS_OK)
    status = pipes->ucp.init(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &rail->context);
  pipes->ucp.config_release(config);
  return status == UCS_OK ? TUTTI_OK : fail(pipes, "ucp_init", rail->nic, status);
}

/* One thread at a time, but not always the same one. */
static tutti_status open_worker(tt_ucx_pipes *pipes, tt_ucx_rail *rail) {
  const ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                      .thread_mode = UCS_THREAD_MODE_SERIALIZED};
  const ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                        UCP_AM_HANDLER_PARAM_FIELD_ARG |
                                                        UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
                                          .id = 0,
                                          .flags = UCP_AM_FLAG_WHOLE_MSG,
                                          .cb = tt_ucx_arrive,
                                          .arg = rail};
  ucs_status_t status = pipes->ucp.worker_create(rail->context, &params, &rail->worker);
  if (status != UCS_OK)
    return fail(pipes, "ucp_worker_create", rail->nic, status);
  status = pipes->ucp.set_handler(rail->worker, &handler);
  if (status != UCS_OK)
    return fail(pipes, "ucp_worker_set_am_recv_handler", rail->nic, status);
  status = pipes->ucp.worker_address(rail->worker, &rail->address, &rail->address_bytes);
  return status == UCS_OK ? TUTTI_OK : fail(pipes, "ucp_worker_get_address", rail->nic, status);
}

static tutti_status watch(tt_ucx_pipes *pipes, const tt_ucx_rail *rail) {
  struct epoll_event event = {.events = EPOLLIN};
  int fd = -1;
  ucs_status_t status = pipes->ucp.event_fd(rail->worker, &fd);
  if (status != UCS_OK)
    return fail(pipes, "ucp_worker_get_efd", rail->nic, status);
  return epoll_ctl(pipes->epoll, EPOLL_CTL_ADD, fd, &event) == 0
             ? TUTTI_OK
             : tt_fail(TUTTI_ERR_SYSTEM, "epoll_ctl for NIC %s failed: %s", rail->nic, strerror(errno));
}

static tutti_status open_descriptors(tt_ucx_pipes *pipes) {
  pipes->epoll = epoll_create1(EPOLL_CLOEXEC);
  pipes->ready = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
  return pipes->epoll >= 0 && pipes->ready >= 0
             ? TUTTI_OK
             : tt_fail(TUTTI_ERR_SYSTEM, "no descriptors to wait on for UCX: %s", strerror(errno));
}

tutti_status tt_ucx_rails_open(tt_ucx_pipes *pipes, const tt_between_config *config) {
  assert(config->rail_count <= TT_RAILS_MOST);
  tutti_status status = open_descriptors(pipes);
  for (int64_t r = 0; r < config->rail_count && status == TUTTI_OK; r++) {
    tt_ucx_rail *rail = &pipes->rail[r];
    rail->pipes = pipes;
    pipes->rail_count = r + 1;
    snprintf(rail->nic, sizeof rail->nic, "%s", config->rail[r].name);
    status = open_context(pipes, rail);
    if (status == TUTTI_OK)
      status = open_worker(pipes, rail);
    if (status == TUTTI_OK)
      status = watch(pipes, rail);
  }
  return status;
}

/* ---- closing ---- */

void tt_ucx_rails_close(tt_ucx_pipes *pipes) {
  if (pipes->epoll >= 0)
    close(pipes->epoll);
  if (pipes->ready >= 0)
    close(pipes->ready);
  for (int64_t r = 0; r < pipes->rail_count; r++) {
    tt_ucx_rail *rail = &pipes->rail[r];
    if (rail->address)
      pipes->ucp.release_address(rail->worker, rail->address);
    if (rail->worker)
      pipes->ucp.worker_destroy(rail->worker);
    if (rail->context)
      pipes->ucp.cleanup(rail->context);
  }
}

/* ---- moving on, and sleeping ---- */

bool tt_ucx_rails_progress(tt_ucx_pipes *pipes) {
  bool any = false;
  for (int64_t r = 0; r < pipes->rail_count; r++)
    for (int n = 0; n < ROUNDS && pipes->ucp.progress(pipes->rail[r].worker) > 0; n++)
      any = true;
  return any;
}

int tt_ucx_rails_descriptor(tt_ucx_pipes *pipes) {
  if (pipes->deaths > 0)
    return pipes->ready;
  for (int64_t r = 0; r < pipes->rail_count; r++)
    if (pipes->ucp.arm(pipes->rail[r].worker) != UCS_OK)
      return pipes->ready;
  return pipes->epoll;
}
