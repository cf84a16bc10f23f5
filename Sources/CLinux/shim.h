// What Glibc's Swift overlay leaves out.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netdb.h>

#include <sys/prctl.h>

// Names the calling thread, at most 15 bytes: prctl(2) is variadic, pthread_setname_np(3) needs _GNU_SOURCE.
static inline int clinux_name_thread(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }
