import Logging
import PlainHTTP
import TestSupport

extension Child {
    /// Options of a role whose port `get` asks.
    static let listening = ["--http-port", "0", "--http-host", "127.0.0.1", "--log-format", "json"]

    /// What its port for health and metrics answers; nil = it does not listen yet.
    func get(_ path: String) async throws -> (status: Int, text: String)? {
        guard let port = errors.firstMatch(of: /"port":"(\d+)"/)?.output.1 else { return nil }
        var configuration = HTTPClient.Configuration()
        configuration.allowsPlainText = true
        let response = try await HTTPClient(configuration: configuration).execute(
            HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)"), timeout: .seconds(10),
            logger: TemporaryDatabase.logger)
        return (response.status, String(decoding: response.body, as: UTF8.self))
    }
}
