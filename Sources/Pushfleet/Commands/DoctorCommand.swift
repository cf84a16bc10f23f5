import ArgumentParser
import Domain
import FoundationEssentials
import Logging
import Postgres
import QueueStore
import Schema

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Checks database, schema, fleet and credentials, with remedies.",
        discussion: """
            Changes nothing. Credentials are checked where their files lie: run it on a worker's machine, as the schema's
            owner. --connect also looks up the providers' names, connects and sends each a request without a key, and asks
            Google for an access token with each FCM key. Apple is asked for nothing: it takes one token of a key in 20
            minutes, which the fleet needs.

            Exit status: 0 all is well, advice included; 1 something is wrong; 3 the database cannot be reached.

            EXAMPLE
              pushfleet doctor
              pushfleet doctor --connect --json
            """)
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @Flag(help: "Connect to the providers too: DNS, TLS and any answer within 5 s; Google's for FCM keys.")
    var connect = false
    @Option(help: "CA bundle to trust besides nothing else; default PUSHFLEET_CA_FILE, then the system's.")
    var caFile: String?

    func run() async throws {
        try await reportingFailures {
            let findings = try await database.withClient { client in Findings(findings: try await look(client)) }
            writeOutput(output.json ? try jsonLine(findings) : findings.text)
            if !findings.isWell { throw ExitStatus.failed }
        }
    }

    private func look(_ client: PostgresClient) async throws -> [Finding] {
        let store = AdminStore(client)
        let logger = Logger(label: "pushfleet.doctor")
        let (before, started) = (Date(), ContinuousClock.now)
        let facts = try await store.databaseFacts()
        let uncertainty = (ContinuousClock.now - started) / 2
        let local = Instant(microseconds: Int64(before.timeIntervalSince1970 * 1_000_000)) + uncertainty
        var findings = DatabaseCheck.findings(facts, local: local, uncertainty: uncertainty)
        do {
            let schema = FleetCheck.schema(try await Migrator(client: client, logger: logger).status())
            findings.append(schema)
            // What follows reads tables that would not be there.
            guard schema.state != .wrong else { return findings }
            findings += FleetCheck.findings(try await store.fleetFacts())
            let origins = OriginCheck(trustFile: caFile ?? environment("PUSHFLEET_CA_FILE"), logger: logger)
            let check = CredentialCheck(now: facts.now, origins: connect ? origins : nil)
            return findings + (await check.findings(try await store.credentialPlaces()))
        } catch let error as PostgresError where error.code == .insufficientPrivilege {
            return findings + [
                .advice(
                    "schema and fleet", "\(facts.login.name) may not see all of them",
                    remedy: "run it as the schema's owner, on a worker's machine")
            ]
        }
    }
}
