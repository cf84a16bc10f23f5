import FoundationEssentials
import HTTP2

/// What tests, demo and benchmarks ask the simulator itself. JSON in, JSON out.
///
///     GET  /healthz
///     GET  /admin/counts
///     GET  /admin/device?token=…          what one device got and shows
///     GET  /admin/ids?from=0&limit=100000 ids in order of arrival, and how often each was accepted
///     GET  /admin/apns                    what device tokens begin with to get into trouble, by its name
///     GET  /admin/fault                   settings in force
///     POST /admin/fault                   {"set": "e503=0.5%,latency=20ms"}
///     POST /admin/reset                   forgets devices, ids and counts
///     POST /admin/revoke                  makes all access tokens invalid
///     POST /admin/key?project=…           another key for a project's account, beside those that are alive: its file
///     POST /admin/delete-key?project=…&id=…  deletes a key; tokens that were given for it live on, as Google's do
struct AdminEndpoint: Sendable {
    private static let idsAtOnce = 100_000

    let seed: UInt64

    /// - Parameter server: what the server has seen.
    func answer(
        _ request: ProviderRequest, server: () -> HTTP2ServerStatistics?, _ state: inout SimulatorState
    ) -> HTTP2ServerResponse {
        let parts = request.path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let query = Form.parse(parts.count == 2 ? Array(parts[1].utf8) : []) else {
            return Self.problem(400, "the query is malformed")
        }
        switch (request.method, parts[0]) {
        case ("GET", "/healthz"): return .json(200, #"{"status":"ok"}"#)
        case ("GET", "/admin/counts"):
            state.journal?.flush()
            return Self.json(CountsReport(state, server()))
        case ("GET", "/admin/device"): return device(query["token"], state)
        case ("GET", "/admin/ids"): return ids(from: query["from"], limit: query["limit"], state)
        case ("GET", "/admin/apns"): return Self.json(APNsToken.prefixes)
        case ("GET", "/admin/fault"): return Self.json(FaultReport(state.faults))
        case ("POST", "/admin/fault"): return setFaults(request.body, &state)
        case ("POST", "/admin/reset"):
            state.reset()
            return .json(200, "{}")
        case ("POST", "/admin/revoke"):
            state.tokens.revokeAll()
            return .json(200, "{}")
        case ("POST", "/admin/key"): return addKey(query["project"], &state)
        case ("POST", "/admin/delete-key"): return deleteKey(query["project"], query["id"], &state)
        default: return Self.problem(404, "there is no \(request.method) on this path")
        }
    }

    private func addKey(_ project: String?, _ state: inout SimulatorState) -> HTTP2ServerResponse {
        guard var account = state.accounts.values.first(where: { $0.project == project }) else {
            return Self.problem(400, "the query needs project=… of an account")
        }
        do {
            let file = try account.addKey()
            state.accounts[account.email] = account
            return Self.json(file)
        } catch { return Self.problem(500, "no key can be made") }
    }

    private func deleteKey(_ project: String?, _ id: String?, _ state: inout SimulatorState) -> HTTP2ServerResponse {
        guard var account = state.accounts.values.first(where: { $0.project == project }), let id,
            account.deleteKey(id)
        else { return Self.problem(400, "the query needs project=… and id=… of a key that is alive") }
        state.accounts[account.email] = account
        return .json(200, "{}")
    }

    private func device(_ token: String?, _ state: SimulatorState) -> HTTP2ServerResponse {
        guard let token else { return Self.problem(400, "the query needs token=…") }
        let hash = Hash64.hash(Array(token.utf8), seed: seed)
        return Self.json(DeviceReport(state.devices.device(hash) ?? Device(hash: hash)))
    }

    private func ids(from: String?, limit: String?, _ state: SimulatorState) -> HTTP2ServerResponse {
        let texts = state.devices.texts
        guard let first = Int(from ?? "0"), let limit = Int(limit ?? String(Self.idsAtOnce)), first >= 0, limit >= 0
        else { return Self.problem(400, "from and limit are whole numbers") }
        let start = min(first, texts.count)
        let end = min(texts.count, start + min(limit, Self.idsAtOnce))
        var body = Array(#"{"ids":["#.utf8)
        for index in start..<end {
            let text = texts[index]
            body.append(contentsOf: (index == start ? #"{"id":""# : #",{"id":""#).utf8)
            JSONWriter.append(text, to: &body)
            let accepted = state.devices.accepted(id: Hash64.hash(text, seed: seed))
            body.append(contentsOf: #"","accepted":\#(accepted)}"#.utf8)
        }
        let next = end < texts.count ? String(end) : "null"
        let total = state.devices.totals.distinctIDs
        body.append(contentsOf: #"],"next":\#(next),"kept":\#(texts.count),"total":\#(total)}"#.utf8)
        return .json(200, body)
    }

    private func setFaults(_ body: [UInt8], _ state: inout SimulatorState) -> HTTP2ServerResponse {
        struct Change: Decodable { let set: String }
        guard let change = try? JSONDecoder().decode(Change.self, from: Data(body)) else {
            return Self.problem(400, #"the body must be {"set": "name=share,…"}"#)
        }
        do { try state.faults.change(change.set) } catch { return Self.problem(400, error.description) }
        return Self.json(FaultReport(state.faults))
    }

    private static func json(_ value: some Encodable) -> HTTP2ServerResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return .json(200, Array(try encoder.encode(value))) } catch {
            return problem(500, "the answer cannot be written as JSON")
        }
    }

    private static func problem(_ status: Int, _ message: String) -> HTTP2ServerResponse {
        .json(status, #"{"error":\#(JSONWriter.quoted(message))}"#)
    }
}
