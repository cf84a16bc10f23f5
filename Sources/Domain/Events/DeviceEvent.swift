/// What an app's SDK tells of a notification.
package struct DeviceEvent: Sendable, Equatable {
    package enum Kind: Int16, Sendable, CaseIterable {
        /// It arrived on the device.
        case delivered = 1
        case shown = 2
        case opened = 3
        /// One of its buttons.
        case action = 4
        case dismissed = 5

        package var name: String { "\(self)" }
    }

    /// A UUID, made by the device: whatever comes under it again is the same event.
    package var id: String
    package var run: Run.ID
    /// Within the run.
    package var number: Int64
    package var kind: Kind
    /// By the device's clock; nil = when it is received.
    package var at: Instant?

    package init(id: String, run: Run.ID, number: Int64, kind: Kind, at: Instant?) {
        self.id = id
        self.run = run
        self.number = number
        self.kind = kind
        self.at = at
    }
}
