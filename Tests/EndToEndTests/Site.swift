import Domain
import Foundation
import Postgres
import QueueStore
import TestSupport
import Testing
import Threading

/// An app with subscribers in a database of its own, a provider, and the processes that a test starts against them.
struct Site {
    let provider: ProviderProcess
    let client: PostgresClient
    let admin: AdminStore
    let subscribers: Int
    /// Between the processes and the database; nil = they reach it directly.
    let relay: Relay?
    private let database: TemporaryDatabase
    private let folder: URL
    private let children = Locked<[Child]>([])

    /// - Parameters:
    ///   - firstRun: its runs are numbered from here, so that several sites can share a provider.
    ///   - prefix: of each token, which tells the provider what to do.
    static func run(
        on provider: ProviderProcess, subscribers: Int, prefix: String = "ok-", firstRun: Int64 = 1,
        relayed: Bool = false,
        _ body: (Site) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pushfleet-site-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        try await TemporaryDatabase.run { database in
            try await database.withClient(connections: 3) { client in
                let relay = try relayed ? Relay(target: database.port) : nil
                defer { relay?.goDown() }
                let site = Site(
                    provider: provider, client: client, admin: AdminStore(client), subscribers: subscribers,
                    relay: relay, database: database, folder: folder)
                let outcome: Result<Void, any Error>
                do {
                    try await site.furnish(prefix: prefix, firstRun: firstRun)
                    try await body(site)
                    outcome = .success(())
                } catch {
                    outcome = .failure(error)
                }
                await site.end()
                try outcome.get()
            }
        }
    }

    private func furnish(prefix: String, firstRun: Int64) async throws {
        _ = try await client.query("SELECT pushfleet.ensure_days(1)::text")
        _ = try await admin.createApp(name: "ferry", timeZone: "UTC")
        _ = try await admin.addCredential(
            NewCredential(
                app: "ferry", name: "firebase", transport: .fcm, file: provider.keyFile, endpoint: provider.url,
                facts: [:]))
        // Retries come back within the test.
        _ = try await client.query("UPDATE pushfleet.route SET backoff = '100 ms'")
        let tokens = prefix + "\(firstRun)-"
        _ = try await client.query(
            """
            INSERT INTO pushfleet.subscriber (shard, app_id, transport, address, external_id, registered_at, language)
            SELECT 0, 1, 2, \(tokens) || g || ':APA91b' || repeat('x', 40), 'u' || g, now() - interval '1 day', 'en'
            FROM generate_series(1, \(Int64(subscribers))) g
            """)
        _ = try await client.query(
            "SELECT setval(pg_get_serial_sequence('pushfleet.run', 'id'), \(firstRun), false)")
    }

    /// Runs a command to its end, as the owner.
    func pushfleet(_ arguments: [String], environment: [String: String] = [:]) async throws -> (Child, Child.Exit) {
        let child = try start(arguments, as: .owner, environment: environment)
        return (child, await child.exit())
    }

    /// Of the login that owns the tables.
    var ownerURL: String { database.url(as: .owner) }

    /// Starts roles that run until they are told to stop, with the login that has just these.
    /// - Parameters:
    ///   - dieAt: a checkpoint and its turn.
    ///   - dieOf: the id of the notification that kills it.
    func start(
        roles: String, _ options: [String] = [], dieAt: String? = nil, dieOf: String? = nil
    ) throws -> Child {
        var environment: [String: String] = [:]
        environment["PUSHFLEET_DIE_AT"] = dieAt
        environment["PUSHFLEET_DIE_OF"] = dieOf
        return try start(["run", "--roles", roles] + options, as: FleetLogin(roles: roles), environment: environment)
    }

    /// Starts any command.
    func start(
        _ arguments: [String], as login: FleetLogin, environment: [String: String] = [:], throughEnv: Bool = false
    ) throws -> Child {
        let way = relay.map { "&host=127.0.0.1&port=\($0.port)" } ?? ""
        var standard = [
            "PUSHFLEET_DATABASE_URL": database.url(as: login) + way, "PUSHFLEET_CA_FILE": provider.caFile,
            "PUSHFLEET_TEST_PACE": "quick",
        ]
        if TemporaryDatabase.isPooled { standard["PUSHFLEET_PREPARED_STATEMENTS"] = "off" }
        let child = try Child(
            "pushfleet", arguments, environment: standard.merging(environment) { $1 }, folder: folder,
            name: UUID().uuidString, throughEnv: throughEnv)
        children.withLock { $0.append(child) }
        return child
    }

    private func end() async {
        let children = children.withLock { $0 }
        for child in children { child.signal(SIGKILL) }
        for child in children { _ = await child.exit() }
    }

    /// A campaign to everybody, due now.
    func createCampaign(
        policy: InDoubtPolicy = .retry, batchSize: Int16 = 50, perSecond: Int? = nil
    ) async throws -> Run.ID {
        let throttle = perSecond.map { #", "throttle": {"perSecond": \#($0)}"# } ?? ""
        let body = """
            {"app": "ferry", "name": "Winter", "idempotencyKey": "\(UUID().uuidString)",
             "message": {"content": {"en": {"title": "Hi", "body": "x"}, "_default": "en"}},
             "delivery": {"ttlSeconds": 3600, "inDoubt": "\(policy == .retry ? "retry" : "assume_sent")"},
             "audience": {"all": true}, "schedule": {"at": "now"}\(throttle)}
            """
        let campaign = try CampaignFile.parse(Array(body.utf8), mode: .strict)
        let created = try await admin.createCampaign(campaign, body: body)
        _ = try await client.query(
            "UPDATE pushfleet.run SET batch_size = \(batchSize) WHERE id = \(created.run)")
        return Run.ID(created.run)
    }

    func progress(of run: Run.ID) async throws -> RunProgress { try #require(try await admin.progress(of: run)) }

    func untilSettled(_ run: Run.ID) async throws {
        try await until("run \(run) is settled") {
            let progress = try await progress(of: run)
            return progress.expanded && progress.accounting.open == 0
        }
    }

    func count(_ query: PostgresQuery) async throws -> Int64 { try await client.query(query)[0].int64(0) }

    /// What the provider accepted of a run, by notification id.
    func accepted(of run: Run.ID) async throws -> [String: Int] {
        let arrivals = try await provider.arrivals().filter { $0.status == 200 && $0.id.hasPrefix("\(run)-") }
        return Dictionary(grouping: arrivals, by: \.id).mapValues(\.count)
    }

    /// The promises that hold however a run went: it adds up, its rows are there once, every job has one outcome, and no
    /// more was sent twice than the database announced.
    func expectSound(_ run: Run.ID, _ comment: Comment) async throws {
        let accounting = try await progress(of: run).accounting
        #expect(accounting.targeted == subscribers, comment)
        #expect(accounting.settled == accounting.targeted, comment)
        #expect(try await admin.violations() == 0, comment)
        #expect(try await admin.audit(run) == [], comment)
        let sent = try await accepted(of: run)
        let repeats = sent.values.reduce(0) { $0 + $1 - 1 }
        #expect(repeats <= accounting.repeatBound, comment)
        #expect(sent.count <= accounting.delivered + accounting.inDoubt, comment)
        #expect(sent.count >= accounting.delivered, comment)
    }
}
