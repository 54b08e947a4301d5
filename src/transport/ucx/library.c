/* transport/ucx/library.c - libucp is loaded by who opens the transport: loading alone takes handlers of signals, which
 * a program that does not use UCX should keep. */
#include "transport/ucx/library.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libucp.so.0"

static const struct {
  const char *name;
  size_t offset;
} symbols[] = {
    {"ucp_config_read", offsetof(tt_ucx_library, config_read)},
    {"ucp_config_modify", offsetof(tt_ucx_library, config_modify)},
    {"ucp_config_release", offsetof(tt_ucx_library, config_release)},
    {"ucp_init_version", offsetof(tt_ucx_library, init)},
    {"ucp_cleanup", offsetof(tt_ucx_library, cleanup)},
    {"ucp_worker_create", offsetof(tt_ucx_library, worker_create)},
    {"ucp_worker_destroy", offsetof(tt_ucx_library, worker_destroy)},
    {"ucp_worker_get_address", offsetof(tt_ucx_library, worker_address)},
    {"ucp_worker_release_address", offsetof(tt_ucx_library, release_address)},
    {"ucp_worker_progress", offsetof(tt_ucx_library, progress)},
    {"ucp_worker_get_efd", offsetof(tt_ucx_library, event_fd)},
    {"ucp_worker_arm", offsetof(tt_ucx_library, arm)},
    {"ucp_worker_set_am_recv_handler", offsetof(tt_ucx_library, set_handler)},
    {"ucp_ep_create", offsetof(tt_ucx_library, ep_create)},
    {"ucp_ep_close_nbx", offsetof(tt_ucx_library, ep_close)},
    {"ucp_ep_flush_nbx", offsetof(tt_ucx_library, ep_flush)},
    {"ucp_am_send_nbx", offsetof(tt_ucx_library, send)},
    {"ucp_am_recv_data_nbx", offsetof(tt_ucx_library, receive)},
    {"ucp_request_check_status", offsetof(tt_ucx_library, request_status)},
    {"ucp_request_free", offsetof(tt_ucx_library, request_free)},
    {"ucs_status_string", offsetof(tt_ucx_library, text)},
};

tutti_status tt_ucx_library_load(tt_ucx_library *library) {
  tt_ucx_library loaded;
  void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return tt_fail(TUTTI_ERR_SYSTEM, "UCX cannot be loaded: %s", dlerror());
  for (size_t s = 0; s < TT_COUNT(symbols); s++) {
    void *symbol = dlsym(handle, symbols[s].name);
    if (!symbol)
      return tt_fail(TUTTI_ERR_SYSTEM, LIBRARY " has no %s: it is too old", symbols[s].name);
    memcpy((char *)&loaded + symbols[s].offset, &symbol, sizeof symbol);
  }
  *library = loaded;
  return TUTTI_OK;
}
