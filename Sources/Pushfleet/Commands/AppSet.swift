import ArgumentParser
import Domain
import QueueStore

struct AppSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Changes what holds for all of an app's messages.",
        discussion: """
            FCM messages are data messages, which the SDK in the app draws, or notification messages, which FCM draws. A
            campaign may say otherwise (delivery.fcmMode). What was created before stays as it was.

            EXAMPLE
              pushfleet app set ferry --fcm-mode notification
            """)
    @OptionGroup var database: DatabaseOptions
    @Argument(help: "The app.") var name: String
    @Option(help: "data or notification.") var fcmMode: String

    func validate() throws {
        guard DeliveryOptions.FCMMode(rawValue: fcmMode) != nil else {
            throw ValidationError("fcm-mode: '\(fcmMode)' is unknown; use data or notification")
        }
    }

    func run() async throws {
        try await reportingFailures {
            guard let mode = DeliveryOptions.FCMMode(rawValue: fcmMode) else { return }
            try await database.withClient { client in
                try await AdminStore(client).setFCMMode(app: name, mode)
                writeOutput("app \(name) sends \(fcmMode) messages through FCM\n")
            }
        }
    }
}
