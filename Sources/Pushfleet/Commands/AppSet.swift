import ArgumentParser
import Domain
import QueueStore

struct AppSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Changes what holds for all of an app's messages.",
        discussion: """
            FCM messages are data messages, which the SDK in the app draws, or notification messages, which FCM draws. A
            campaign may say otherwise (delivery.fcmMode). What was created before stays as it was.

            A frequency cap lets a user get so many messages within any window, across campaigns, single notifications and
            devices; more are skipped (frequency_cap). In quiet hours, by the clock of each subscriber's zone, nothing is
            sent: it waits until they end, or is skipped (quiet_hours), as --in-quiet-hours and delivery.quietHours say.
            Both hold for single notifications too. A message that must come through says so, and why, in delivery.bypass;
            that is kept: pushfleet report show bypasses. Tests, topics and silent messages are not held back.

            EXAMPLE
              pushfleet app set ferry --fcm-mode notification
              pushfleet app set ferry --frequency-cap 3/24h --quiet-hours 22:00-08:00 --in-quiet-hours defer
              pushfleet app set ferry --frequency-cap none
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Argument(help: "The app.") var name: String
    @Option(help: "data or notification.") var fcmMode: String?
    @Option(help: "COUNT/SPAN such as 3/24h or 10/7d: 1 to 1000 within 1m to 31d; none = no cap.")
    var frequencyCap: String?
    @Option(help: "HH:MM-HH:MM such as 22:00-08:00, in each subscriber's zone; none = no quiet hours.")
    var quietHours: String?
    @Option(help: "defer or skip.") var inQuietHours: String?

    func validate() throws {
        var faults: [String] = []
        if let fcmMode, DeliveryOptions.FCMMode(rawValue: fcmMode) == nil {
            faults.append("fcm-mode: '\(fcmMode)' is unknown; use data or notification")
        }
        if let frequencyCap, frequencyCap != "none", FrequencyCap(frequencyCap) == nil {
            faults.append(
                "frequency-cap: '\(frequencyCap)' is no cap; use 1 to 1000, a slash and a span from 1m to 31d, such as "
                    + "3/24h, or none")
        }
        if let quietHours, quietHours != "none", QuietHours(quietHours) == nil {
            faults.append(
                "quiet-hours: '\(quietHours)' are no quiet hours; use two different times such as 22:00-08:00, or none")
        }
        if let inQuietHours, QuietHours.Policy(rawValue: inQuietHours) == nil {
            faults.append("in-quiet-hours: '\(inQuietHours)' is unknown; use defer or skip")
        }
        if fcmMode == nil, frequencyCap == nil, quietHours == nil, inQuietHours == nil {
            faults.append("nothing to set; give --fcm-mode, --frequency-cap, --quiet-hours or --in-quiet-hours")
        }
        guard faults.isEmpty else { throw ValidationError(faults.joined(separator: "\n")) }
    }

    private var change: LimitChange {
        var change = LimitChange()
        change.frequencyCap = frequencyCap.map { FrequencyCap($0).map { .value($0) } ?? .none }
        change.quietHours = quietHours.map { QuietHours($0).map { .value($0) } ?? .none }
        change.inQuietHours = inQuietHours.flatMap { QuietHours.Policy(rawValue: $0) }
        return change
    }

    func run() async throws {
        try await reportingFailures {
            try await database.withClient { client in
                let store = AdminStore(client)
                if let mode = fcmMode.flatMap({ DeliveryOptions.FCMMode(rawValue: $0) }) {
                    try await store.setFCMMode(app: name, mode)
                    if !output.json { writeOutput("app \(name) sends \(mode.rawValue) messages through FCM\n") }
                }
                let limits = try await store.setLimits(ofApp: name, change)
                if output.json { return writeOutput(try jsonLine(limits)) }
                writeOutput("frequency cap: \(limits.frequencyCap ?? "none")\n")
                let hours = limits.quietHours.map { "\($0) in each subscriber's zone, \(limits.inQuietHours)" }
                writeOutput("quiet hours: \(hours ?? "none")\n")
            }
        }
    }
}
