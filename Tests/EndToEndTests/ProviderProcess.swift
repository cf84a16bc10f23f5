import Foundation
import Logging
import PlainHTTP
import TestSupport
import Threading

/// The provider simulator as a process, and what it saw.
struct ProviderProcess: Sendable {
    let url: String
    let caFile: String
    let keyFile: String
    private let child: Child
    private let journalFile: URL
    private let http: HTTPClient

    /// A send that reached the provider.
    struct Arrival: Sendable {
        /// Since the simulator's start.
        var milliseconds: Int64
        /// nil = of no device: a marker of the test's.
        var device: String?
        /// The notification's id: run and job number.
        var id: String
        var status: Int
    }

    static func run(_ options: [String] = [], _ body: (ProviderProcess) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "pushfleet-provider-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let journal = folder.appending(path: "journal")
        let ready = folder.appending(path: "ready")
        let child = try Child(
            "pushfleet-simulator",
            [
                "--state", folder.appending(path: "state").path, "--ready-file", ready.path, "--journal", journal.path,
            ] + options, environment: [:], folder: folder, name: "simulator")
        let outcome: Result<Void, any Error>
        do {
            try await until("the simulator answers") {
                guard let data = FileManager.default.contents(atPath: ready.path), !data.isEmpty else { return false }
                return true
            }
            try await body(ProviderProcess(child: child, ready: ready, journal: journal))
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        child.signal(SIGKILL)
        _ = await child.exit()
        try FileManager.default.removeItem(at: folder)
        try outcome.get()
    }

    private init(child: Child, ready: URL, journal: URL) throws {
        struct Whereabouts: Decodable {
            struct Account: Decodable { let key_file: String }
            let url, ca_file: String
            let accounts: [Account]
        }
        let whereabouts = try JSONDecoder().decode(Whereabouts.self, from: Data(contentsOf: ready))
        url = whereabouts.url
        caFile = whereabouts.ca_file
        keyFile = whereabouts.accounts[0].key_file
        self.child = child
        journalFile = journal
        var configuration = HTTPClient.Configuration()
        configuration.trustFile = caFile
        http = HTTPClient(configuration: configuration)
    }

    /// Every send so far, in order of arrival.
    func arrivals() async throws -> [Arrival] {
        // Asking for counts has the journal written out.
        _ = try await request("/admin/counts")
        return try String(contentsOf: journalFile, encoding: .utf8).split(separator: "\n").map { line in
            let fields = line.split(separator: "\t").map { String($0) }
            return Arrival(
                milliseconds: (Int64(fields[0]) ?? 0) / 1000, device: fields[1] == "-" ? nil : fields[1], id: fields[2],
                status: Int(fields[3]) ?? 0)
        }
    }

    /// By the simulator's clock: a send without authorization leaves a line of its own.
    func now() async throws -> Int64 {
        _ = try await request("/v1/projects/demo/messages:send", .POST)
        return try await arrivals().last { $0.device == nil }?.milliseconds ?? 0
    }

    /// Returns when so much time has passed, by the simulator's clock.
    func passed(_ milliseconds: Int64) async throws -> Int64 {
        let end = try await now() + milliseconds
        try await until("\(milliseconds) ms have passed") { try await now() > end }
        return try await now()
    }

    func count(_ name: String) async throws -> Int {
        let counts = try JSONSerialization.jsonObject(with: Data(try await request("/admin/counts")))
        return (counts as? [String: Any])?[name] as? Int ?? -1
    }

    /// Changes what goes wrong, as the simulator's `--fault` is written.
    func setFaults(_ text: String) async throws {
        _ = try await request("/admin/fault", .POST, body: Array(#"{"set": "\#(text)"}"#.utf8))
    }

    func request(_ path: String, _ method: HTTPMethod = .GET, body: [UInt8] = []) async throws -> [UInt8] {
        var request = HTTPClientRequest(url: url + path)
        request.method = method
        if method == .POST { request.body = body }
        return try await http.execute(request, timeout: .seconds(10), logger: TemporaryDatabase.logger).body
    }
}
