import CLinux
import Glibc

/// Starts a thread of our own, for what may block: the cooperative pool may not.
/// - Parameters:
///   - name: what `top -H` and a debugger show, cut to 15 bytes (prctl(2)).
///   - body: runs once; the thread ends with it.
package func startThread(named name: String, _ body: @escaping @Sendable () -> Void) {
    let context = Unmanaged.passRetained(ThreadStart(name: name, body: body)).toOpaque()
    var thread = pthread_t()
    let code = pthread_create(&thread, nil, runThread, context)
    // Out of threads or memory: nothing that this process owes could go on.
    precondition(code == 0, "pthread_create failed with error \(code) for thread \(name)")
    pthread_detach(thread)
}

private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    let start = Unmanaged<ThreadStart>.fromOpaque(context!).takeRetainedValue()
    _ = clinux_name_thread(start.name)
    start.body()
    return nil
}
