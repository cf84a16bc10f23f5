/// What a worker tells whoever watches it, as it happens, on its own actor: it must be quick and never block.
package protocol DeliveryMetrics: Sendable {
    /// A batch was claimed or collected, or nothing was found (`jobs` 0).
    func claimed(lane: Lane, jobs: Int, took: Duration)
    /// A transport reported on a job. `outcome` nil: it is tried again.
    func answered(transport: TransportKind, outcome: Outcome?, latency: Duration?)
    /// A flush returned, or failed.
    func flushed(items: Int, took: Duration, failed: Bool)
    /// Batches that were rescued from under this worker.
    func lost(batches: Int)
    /// Requests begun and unanswered, and jobs read and not begun.
    func holds(inFlight: Int, waiting: Int)
    /// A rate gave so many slots; 0 = what waits goes on waiting for it.
    func paced(slots: Int)
}

/// Nobody watches.
package struct NoDeliveryMetrics: DeliveryMetrics {
    package init() {}
    package func claimed(lane: Lane, jobs: Int, took: Duration) {}
    package func answered(transport: TransportKind, outcome: Outcome?, latency: Duration?) {}
    package func flushed(items: Int, took: Duration, failed: Bool) {}
    package func lost(batches: Int) {}
    package func holds(inFlight: Int, waiting: Int) {}
    package func paced(slots: Int) {}
}
