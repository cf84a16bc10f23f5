import ArgumentParser

struct SubscriberCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscriber", abstract: "Subscribers: the installations and browsers that can be pushed to.",
        discussion: "EXAMPLE\n  pushfleet subscriber import --app ferry subscribers.csv",
        subcommands: [SubscriberImportCommand.self])
}
