// Stand-in for swift-service-lifecycle 2.8 (https://github.com/swift-server/swift-service-lifecycle): the same module
// name and call sites, of which only those that this project uses exist. Taking the package instead is a line in the
// manifest and one folder less; `testGracefulShutdown` then comes from its module ServiceLifecycleTestKit.

/// Something that runs for as long as its process does.
package protocol Service: Sendable {
    /// Returns once a graceful shutdown is asked for and done, and soon after the task is cancelled.
    func run() async throws
}
