import CLibPQ
import Glibc

extension PostgresConnection {
    /// What a `NOTIFY` gave.
    package struct Notification: Hashable, Sendable {
        package let channel: String
        package let payload: String

        package init(channel: String, payload: String) {
            self.channel = channel
            self.payload = payload
        }
    }

    /// Has notifications of a channel sent to this connection from now on, until it is lost.
    /// - Parameter channel: its name, taken as it is: not folded to lower case.
    package nonisolated func listen(_ channel: String, deadline: Duration = .seconds(10)) async throws(PostgresError) {
        let name = channel.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
        _ = try await query("LISTEN \"\(unescaped: name)\"", deadline: deadline)
    }

    /// Waits until there is a notification, then gives all that have come.
    /// - Returns: an empty array when the time has passed, the task was cancelled or the connection was closed.
    /// - Throws: `connectionLost`: notifications may have been missed, and `connect` and `listen` are due.
    package nonisolated func notifications(timeout: Duration) async throws(PostgresError) -> [Notification] {
        let deadline = ContinuousClock.now + timeout
        let outcome = await withTaskCancellationHandler {
            await waitForNotifications(until: deadline)
        } onCancel: {
            interruption.signal()
        }
        return try outcome.get()
    }

    private func waitForNotifications(until deadline: ContinuousClock.Instant) -> Result<[Notification], PostgresError>
    {
        // Of an earlier wait; one that comes after this look finds this wait.
        interruption.clear()
        return Result { () throws(PostgresError) in
            try perform { session throws(PostgresError) in
                guard !Task.isCancelled, !isClosing else { return [] }
                return try session.waitForNotifications(until: deadline)
            }
        }
    }
}

extension Session {
    fileprivate func waitForNotifications(
        until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> [PostgresConnection.Notification] {
        while true {
            let notifications = takeNotifications()
            guard notifications.isEmpty, wait(for: POLLIN, until: deadline, interruptibly: true) else {
                return notifications
            }
            guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else {
                throw lost(nil, .nothingLasting)
            }
        }
    }

    private func takeNotifications() -> [PostgresConnection.Notification] {
        var notifications: [PostgresConnection.Notification] = []
        while let notification = PQnotifies(handle) {
            notifications.append(
                PostgresConnection.Notification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra)))
            PQfreemem(notification)
        }
        return notifications
    }
}
