import Domain
import FoundationEssentials

/// `{"reason": …, "timestamp": …}`, the body of a failure. What cannot be read counts as absent.
struct APNsErrorBody {
    /// Compared exactly.
    let reason: String?
    /// When APNs learnt that the token is of no use.
    let timestamp: Instant?

    init(parsing body: [UInt8]) {
        let wire = body.isEmpty ? nil : try? JSONDecoder().decode(Wire.self, from: Data(body))
        reason = wire?.reason
        timestamp = wire?.milliseconds.flatMap { milliseconds in
            let (microseconds, isTooLarge) = milliseconds.multipliedReportingOverflow(by: 1000)
            return isTooLarge ? nil : Instant(microseconds: microseconds)
        }
    }

    private struct Wire: Decodable {
        var reason: String?
        var milliseconds: Int64?

        enum CodingKeys: String, CodingKey { case reason, timestamp }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            reason = try? container.decode(String.self, forKey: .reason)
            let number = try? container.decode(Int64.self, forKey: .timestamp)
            let text = try? container.decode(String.self, forKey: .timestamp)
            milliseconds = number ?? text.flatMap { Int64($0) }
        }
    }
}
