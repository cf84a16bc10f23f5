import ArgumentParser
import Crypto

@main
struct PushfleetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pushfleet",
        abstract: "Sends push notifications from PostgreSQL, and proves where each one is.",
        discussion: """
            The database is named by --database, PUSHFLEET_DATABASE_URL or the standard PG* variables.

            Exit status: 0 done; 1 the work failed; 2 bad input (a flag, a file, a name), nothing was done;
            3 the database cannot be reached; 4 its schema does not fit this binary (pushfleet migrate up).

            EXAMPLE
              pushfleet migrate up
              pushfleet app create ferry
              pushfleet credential add firebase --app ferry --transport fcm --file /etc/pushfleet/ferry.json
              pushfleet subscriber import --app ferry subscribers.csv
              pushfleet campaign create winter.json --watch
              pushfleet run --roles scheduler,worker,janitor
            """,
        subcommands: [
            MigrateCommand.self, RunCommand.self, AppCommand.self, CredentialCommand.self, SubscriberCommand.self,
            CampaignCommand.self, SegmentCommand.self, TemplateCommand.self, LegacyCommand.self, ReportCommand.self,
            ExplainCommand.self, DoctorCommand.self, IntakeCommand.self,
            TokenCommand.self,
        ])

    static let version = "1.0.0"

    static func main() async {
        ignoreBrokenPipes()
        keepOpenSSLUntilTheEnd()
        await main(Array(CommandLine.arguments.dropFirst()))
    }
}
