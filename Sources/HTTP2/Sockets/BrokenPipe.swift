import Glibc

/// A write to a connection that the peer has reset raises SIGPIPE in the thread that wrote, which would end a process
/// that does not ignore it. A thread of ours that uses sockets calls this first.
func blockBrokenPipeSignal() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
}
