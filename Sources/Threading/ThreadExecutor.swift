/// Runs an actor on a thread of its own, so that the actor may call a blocking C library.
///
///     actor Connection {
///         private let executor = ThreadExecutor(name: "postgres")
///         nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
///         deinit { executor.shutdown() }
///     }
///
/// A hop to it and back costs some 20-30 µs of CPU, so make calls worth one. The thread lives until `shutdown()`.
package final class ThreadExecutor: SerialExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var hasThread = false
        var isShutDown = false
    }

    private let name: String
    private let monitor = Monitor(State())

    /// - Parameter name: of the thread, at most 15 bytes. The thread starts with the first job.
    package init(name: String) { self.name = name }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = monitor.withLock { state in
            state.jobs.append(job)
            defer { state.hasThread = true }
            return !state.hasThread
        }
        if needsThread { startThread(named: name) { self.runJobs() } } else { monitor.signal() }
    }

    /// Lets the thread end once it has run what is queued. Any thread may call it, that of the executor too, and it
    /// does not wait. A job that comes later still runs, on a thread that ends with it: no caller is left hanging.
    package func shutdown() {
        monitor.withLock { $0.isShutDown = true }
        monitor.signal()
    }

    private func runJobs() {
        while true {
            let jobs: [UnownedJob] = monitor.wait { state in
                if state.jobs.isEmpty {
                    guard state.isShutDown else { return .wait(until: nil) }
                    state.hasThread = false
                    return .done([])
                }
                defer { state.jobs.removeAll(keepingCapacity: true) }
                return .done(state.jobs)
            }
            if jobs.isEmpty { return }
            for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
        }
    }
}
