/* transport/ucx/library.h - the functions of libucp, loaded at run time. */
#ifndef TT_TRANSPORT_UCX_LIBRARY_H
#define TT_TRANSPORT_UCX_LIBRARY_H

#include "base/base.h"

#include <ucp/api/ucp.h>

typedef struct tt_ucx_library {
  __typeof__(&ucp_config_read) config_read;
  __typeof__(&ucp_config_modify) config_modify;
  __typeof__(&ucp_config_release) config_release;
  __typeof__(&ucp_init_version) init;
  __typeof__(&ucp_cleanup) cleanup;
  __typeof__(&ucp_worker_create) worker_create;
  __typeof__(&ucp_worker_destroy) worker_destroy;
  __typeof__(&ucp_worker_get_address) worker_address;
  __typeof__(&ucp_worker_release_address) release_address;
  __typeof__(&ucp_worker_progress) progress;
  __typeof__(&ucp_worker_get_efd) event_fd;
  __typeof__(&ucp_worker_arm) arm;
  __typeof__(&ucp_worker_set_am_recv_handler) set_handler;
  __typeof__(&ucp_ep_create) ep_create;
  __typeof__(&ucp_ep_close_nbx) ep_close;
  __typeof__(&ucp_ep_flush_nbx) ep_flush;
  __typeof__(&ucp_am_send_nbx) send;
  __typeof__(&ucp_am_recv_data_nbx) receive;
  __typeof__(&ucp_request_check_status) request_status;
  __typeof__(&ucp_request_free) request_free;
  __typeof__(&ucs_status_string) text;
} tt_ucx_library;

/* It stays loaded: it has a thread and handlers of signals. */
tutti_status tt_ucx_library_load(tt_ucx_library *library);

#endif
