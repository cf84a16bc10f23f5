#ifndef PUSHFLEET_CMICROHTTPD_H
#define PUSHFLEET_CMICROHTTPD_H
#include <sys/socket.h>
#include <netinet/in.h>
#include <microhttpd.h>
// Swift cannot call the variadic MHD_start_daemon.
static inline struct MHD_Daemon *cmicrohttpd_start(unsigned flags, struct sockaddr_in *address, MHD_AccessHandlerCallback handler, void *context,
    MHD_RequestCompletedCallback completed) {
  return MHD_start_daemon(flags, 0, NULL, NULL, handler, context, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)address,
    MHD_OPTION_NOTIFY_COMPLETED, completed, NULL,
    MHD_OPTION_CONNECTION_LIMIT, 1024u, MHD_OPTION_CONNECTION_TIMEOUT, 15u, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)32768, MHD_OPTION_END);
}
static inline int cmicrohttpd_port(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info ? info->port : 0;
}
#endif
