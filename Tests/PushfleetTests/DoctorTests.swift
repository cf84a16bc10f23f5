import Crypto
import Domain
import Foundation
import Logging
@testable import QueueStore
@testable import Schema
import Testing

@testable import Pushfleet

@Suite struct DoctorTests {
    private static let soundDatabase = DatabaseFacts(
        versionNumber: 150_004, version: "15.4", isStandby: false,
        settings: [
            "autovacuum": "on", "track_counts": "on", "fsync": "on", "full_page_writes": "on",
            "synchronous_commit": "on", "statement_timeout": "0", "idle_in_transaction_session_timeout": "60000",
        ], now: Instant(microseconds: 1_900_000_000_000_000), connections: 10, connectionLimit: 97,
        oldestTransactionSeconds: nil,
        login: .init(name: "w1", isSuperuser: false, isOwner: false, memberOf: ["pushfleet_worker"]))

    private static let soundFleet = FleetFacts(
        daysAhead: 8, workersAlive: 2, workersLost: 0, readyJobs: 10, oldestDueSeconds: 1, violations: 0,
        miscounted: 0, auditsFailed: 0, countedUntilSeconds: 30, orderedSeconds: 1)

    private static func states(_ change: (inout DatabaseFacts) -> Void) -> [String: Finding.State] {
        var facts = soundDatabase
        change(&facts)
        let found = DatabaseCheck.findings(facts, local: soundDatabase.now, uncertainty: .milliseconds(5))
        return Dictionary(uniqueKeysWithValues: found.map { ($0.check, $0.state) })
    }

    private static func faults(_ change: (inout FleetFacts) -> Void) -> [String] {
        var facts = soundFleet
        change(&facts)
        return FleetCheck.findings(facts).filter { $0.state == .wrong }.map(\.check)
    }

    @Test func `A sound database and fleet need no remedy`() {
        #expect(Self.states { _ in }.values.allSatisfy { $0 == .ok })
        #expect(FleetCheck.findings(Self.soundFleet).allSatisfy { $0.state == .ok && $0.remedy == nil })
    }

    @Test(
        arguments: [
            ("autovacuum", "off"), ("track_counts", "off"), ("fsync", "off"), ("full_page_writes", "off"),
            ("synchronous_commit", "off"), ("statement_timeout", "5000"),
        ])
    func `A setting that loses outcomes or stops workers is wrong`(name: String, value: String) {
        #expect(Self.states { $0.settings[name] = value }["setting \(name)"] == .wrong)
    }

    @Test func `What works but could be better is advice`() {
        #expect(
            Self.states { $0.settings["idle_in_transaction_session_timeout"] = "0" }[
                "setting idle_in_transaction_session_timeout"] == .advice)
        #expect(Self.states { $0.oldestTransactionSeconds = 3600 }["oldest transaction"] == .advice)
        #expect(Self.states { $0.settings["synchronous_commit"] = "remote_apply" }["setting synchronous_commit"] == .ok)
    }

    @Test func `A login with too much is advised against, and one with nothing is wrong`() {
        #expect(Self.states { $0.login.isSuperuser = true }["login"] == .advice)
        #expect(Self.states { ($0.login.isOwner, $0.login.memberOf) = (true, []) }["login"] == .ok)
        #expect(Self.states { $0.login.memberOf = [] }["login"] == .wrong)
        // Before the first migration there is nothing to be a member of.
        #expect(Self.states { ($0.login.memberOf, $0.login.isOwner) = ([], nil) }["login"] == .ok)
        #expect(Self.states { $0.login.unsafeGroups = ["pushfleet_worker"] }["roles"] == .wrong)
    }

    @Test func `An old server, a standby and too few connections are wrong`() {
        #expect(Self.states { $0.versionNumber = 140_011 }["database version"] == .wrong)
        #expect(Self.states { $0.isStandby = true }["database role"] == .wrong)
        #expect(Self.states { $0.connections = 90 }["connections"] == .wrong)
    }

    @Test(
        arguments: [
            (0, .ok), (1500, .ok), (-2100, .advice), (2004, .ok), (29_000, .advice), (31_000, .wrong),
            (-31_000, .wrong),
        ] as [(Int, Finding.State)])
    func `A clock difference counts as far as the answer's own time leaves it certain`(
        milliseconds: Int, state: Finding.State
    ) {
        #expect(DatabaseCheck.clock(.milliseconds(milliseconds), .milliseconds(5)).state == state)
    }

    @Test func `What stops or falsifies a fleet is wrong`() {
        #expect(Self.faults { $0.daysAhead = 1 } == ["partitions"])
        #expect(Self.faults { $0.workersAlive = 0 } == ["workers"])
        #expect(Self.faults { ($0.workersAlive, $0.readyJobs) = (0, 0) } == [])
        #expect(Self.faults { $0.orderedSeconds = 60 } == ["scheduler"])
        #expect(Self.faults { $0.orderedSeconds = nil } == [])
        #expect(Self.faults { $0.violations = 1 } == ["accounting violations"])
        #expect(Self.faults { $0.miscounted = 1 } == ["miscounted runs"])
        #expect(Self.faults { $0.auditsFailed = 1 } == ["failed audits"])
    }

    @Test func `A schema that is behind, edited or too new is wrong`() {
        func state(_ state: MigrationStatus.State, lowest: Int = 1) -> Finding.State {
            FleetCheck.schema([
                MigrationStatus(
                    number: 1, name: "a", state: state, lowestBinary: lowest, appliedAt: nil, isSafeWithWorkers: nil)
            ]).state
        }
        #expect(state(.applied) == .ok)
        #expect(state(.unknown) == .ok)
        #expect(state(.pending) == .wrong)
        #expect(state(.edited) == .wrong)
        #expect(state(.unknown, lowest: 99) == .wrong)
    }

    @Test func `A key file is read and signed with, and its fault named without its content`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "doctor-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let key = try P256.Signing.PrivateKey()
        let good = folder.appending(path: "vapid.pem")
        try key.pemRepresentation.write(to: good, atomically: true, encoding: .utf8)
        let bad = folder.appending(path: "bad.json")
        try "{\"secret\": 1}".write(to: bad, atomically: true, encoding: .utf8)
        let publicKey = Base64URL.encode(try key.publicKey.x963Representation)
        let check = CredentialCheck(now: Self.soundDatabase.now, origins: nil)
        let web = CredentialPlace(
            app: "ferry", name: "web", transport: .webpush, file: good.path, contact: "mailto:push@ferry.example",
            publicKey: publicKey)
        var other = web
        other.publicKey = "A" + publicKey.dropFirst()
        let findings = await check.findings([
            web, other, CredentialPlace(app: "ferry", name: "firebase", transport: .fcm, file: bad.path),
            CredentialPlace(app: "ferry", name: "gone", transport: .apns, file: folder.path + "/none.json"),
        ])
        #expect(findings.map(\.state) == [.ok, .wrong, .wrong, .wrong])
        #expect(findings.dropFirst().allSatisfy { $0.remedy != nil && !$0.found.contains("secret") })
        var paused = web
        paused.pausedBecause = "credential_rejected"
        #expect(await check.findings([paused]).map(\.state) == [.ok, .wrong])
    }

    @Test func `An origin that nobody answers at is wrong within the deadline`() async {
        let logger = Logger(label: "tests") { TextLogHandler(label: $0, logLevel: .critical) }
        let check = OriginCheck(trustFile: nil, deadline: .seconds(2), logger: logger)
        for origin in ["https://127.0.0.1:1", "https://no-such-name.invalid"] {
            let finding = await check.finding(origin)
            #expect(finding.state == .wrong && finding.remedy != nil, "\(finding)")
        }
    }

    @Test func `Remedies stand below their findings, which are aligned`() {
        let text = Findings(findings: [
            .ok("a", "1"), .wrong("longer", "2", remedy: "mend it"),
        ]).text
        #expect(
            text == """
                STATE  CHECK   FOUND
                ok     a       1
                wrong  longer  2
                        -> mend it
                1 of 2 checks are wrong

                """)
    }
}
