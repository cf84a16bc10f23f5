#ifndef PUSHFLEET_CMICROHTTPD_H
#define PUSHFLEET_CMICROHTTPD_H
#include <string.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <microhttpd.h>
// The path reaches us as it was sent: decoded in place, it would end at an escaped NUL.
static inline size_t cmicrohttpd_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  return strlen(text);
}
// Swift cannot call the variadic MHD_start_daemon.
static inline struct MHD_Daemon *cmicrohttpd_start(unsigned flags, struct sockaddr_in *address, MHD_AccessHandlerCallback handler, void *context,
    MHD_RequestCompletedCallback completed, MHD_NotifyConnectionCallback connected) {
  return MHD_start_daemon(flags, 0, NULL, NULL, handler, context, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)address,
    MHD_OPTION_NOTIFY_COMPLETED, completed, context, MHD_OPTION_NOTIFY_CONNECTION, connected, context,
    MHD_OPTION_UNESCAPE_CALLBACK, cmicrohttpd_keep_escapes, NULL,
    MHD_OPTION_CONNECTION_LIMIT, 1024u, MHD_OPTION_CONNECTION_TIMEOUT, 15u, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)32768, MHD_OPTION_END);
}
static inline int cmicrohttpd_port(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info ? info->port : 0;
}
// Nor MHD_get_connection_info; -1 = it has none.
static inline int cmicrohttpd_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}
#endif
