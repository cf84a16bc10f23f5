import ArgumentParser

@main enum Main {
    static func main() async { await BenchCommand.main() }
}

/// What the benchmarks of Scripts/bench run of our own code, one part at a time.
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "Bench", abstract: "Parts of Pushfleet alone, for Scripts/bench.",
        discussion: """
            EXAMPLE
              Bench expand 1 --database postgresql://app@127.0.0.1:5432/postgres
            """,
        subcommands: [
            ExpandBench.self, QueueBench.self, ClaimBench.self, NotifyBench.self, SendBench.self, TransportBench.self,
            SealBench.self,
        ])
}
