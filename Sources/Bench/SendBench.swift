import ArgumentParser
import FoundationEssentials
import HTTP2
import Logging
import Threading

/// One request again and again over our HTTP/2 client, as h2load does it.
struct SendBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Sends the same request many times.",
        discussion:
            "EXAMPLE\n  Bench send --port 8443 --path /x --body body.json --token T --ca-file ca.pem --requests 100000")
    @Option(help: "Port on 127.0.0.1.") var port: Int
    @Option(help: "Path of the request.") var path: String
    @Option(help: "File with the body.") var body: String
    @Option(help: "Bearer token.") var token: String
    @Option(help: "CA bundle to trust.") var caFile: String
    @Option(help: "Requests.") var requests = 100_000
    @Option(help: "Connections.") var connections = 4
    @Option(help: "Requests in flight on each.") var streams = 250

    func run() async throws {
        let client = HTTP2Client(
            origin: HTTP2Origin(host: "127.0.0.1", port: UInt16(port)),
            configuration: HTTP2ClientConfiguration(
                trust: .file(caFile), maxConnections: connections, streamsPerConnection: streams),
            logger: Logger(label: "bench"))
        let fields = HTTP2FieldBlock([
            "authorization": "Bearer \(token)", "content-type": "application/json; charset=UTF-8",
        ])
        let bytes = [UInt8](FileManager.default.contents(atPath: body) ?? Data())
        let flow = Flow()
        var begun = 0
        while begun < requests || flow.open > 0 {
            let room = min(requests - begun, connections * streams * 5 / 4 - flow.open, 100)
            if room <= 0 || (room < 100 && begun + room < requests) {
                await flow.moved.wait(until: .now + .seconds(1))
                continue
            }
            let chunk = (begun..<begun + room).map { HTTP2Request(id: UInt64($0), path: Array(path.utf8), body: bytes) }
            begun += room
            flow.begin(room)
            client.submit(chunk, shared: fields, beginBefore: .now + .seconds(60), deadline: .seconds(60)) {
                flow.end($0)
            }
        }
        await client.close(by: .now + .seconds(5))
        print(#"{"requests": \#(requests), "ok": \#(flow.ok)}"#)
    }
}

/// How much is under way, and what went well.
final class Flow: Sendable {
    private let counts = Locked((open: 0, ok: 0))
    let moved = Wakeup()

    var open: Int { counts.withLock { $0.open } }
    var ok: Int { counts.withLock { $0.ok } }

    func begin(_ requests: Int) { counts.withLock { $0.open += requests } }

    func end(_ requests: Int, ok: Int) {
        counts.withLock { counts in
            counts.open -= requests
            counts.ok += ok
        }
        moved.signal()
    }

    func end(_ results: [HTTP2Result]) {
        let ok = results.count { result in
            if case .answered(let response) = result.outcome { return response.status == 200 }
            return false
        }
        end(results.count, ok: ok)
    }
}
