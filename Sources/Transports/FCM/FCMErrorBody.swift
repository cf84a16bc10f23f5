import FoundationEssentials

/// What is readable in the body of a failure (fcm.md §8). Nothing in it can be relied on: it may be empty, cut, HTML of
/// a proxy, or hold members of another type; what cannot be read counts as absent.
struct FCMErrorBody {
    /// `error.message`.
    var message = ""
    /// `FcmError.errorCode`, in whatever position.
    var errorCode: String?
    /// `ApnsError`: Apple's own status, where FCM asked Apple.
    var appleStatus: Int?
    /// `BadRequest.fieldViolations[].field`.
    var violatedFields: [String] = []
    /// `QuotaFailure.violations[]`, subject and description of each.
    var quotaViolations: [String] = []
    /// `RetryInfo.retryDelay`.
    var retryDelay: Duration?

    init() {}

    init(parsing body: [UInt8]) {
        guard let wire = Self.decode(body) else { return }
        message = wire.message ?? ""
        for detail in wire.details ?? [] { add(detail) }
    }

    private mutating func add(_ detail: Wire.Detail) {
        let type = detail.type?.split(separator: ".").last ?? ""
        switch type {
        case "FcmError": errorCode = errorCode ?? detail.errorCode
        case "ApnsError": appleStatus = appleStatus ?? detail.appleStatus
        case "BadRequest": violatedFields += (detail.fieldViolations ?? []).compactMap(\.field)
        case "QuotaFailure":
            quotaViolations += (detail.violations ?? []).flatMap { [$0.subject, $0.description].compactMap(\.self) }
        case "RetryInfo": retryDelay = retryDelay ?? detail.retryDelay.flatMap { ProviderDelay.parse(durationText: $0) }
        default: break
        }
    }

    /// Google wraps some answers in an array.
    private static func decode(_ body: [UInt8]) -> Wire? {
        let decoder = JSONDecoder()
        let data = Data(body)
        if let answer = try? decoder.decode(Envelope.self, from: data) { return answer.error }
        return (try? decoder.decode([Envelope].self, from: data))?.first?.error
    }

    private struct Envelope: Decodable { var error: Wire }

    private struct Wire: Decodable {
        var message: String?
        var details: [Detail]?

        enum CodingKeys: String, CodingKey { case message, details }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            message = try? container.decode(String.self, forKey: .message)
            details = try? container.decode([Detail].self, forKey: .details)
        }

        /// One entry of any kind. Each member is read for itself, so that one of another type spoils no other.
        struct Detail: Decodable {
            var type: String?
            var errorCode: String?
            var appleStatus: Int?
            var fieldViolations: [Violation]?
            var violations: [Violation]?
            var retryDelay: String?

            enum CodingKeys: String, CodingKey {
                case type = "@type"
                case errorCode, statusCode, fieldViolations, violations, retryDelay
                /// As Google's page on `ApnsError` spells it.
                case statusCodeInSnakeCase = "status_code"
            }

            init(from decoder: any Decoder) throws {
                guard let container = try? decoder.container(keyedBy: CodingKeys.self) else { return }
                type = try? container.decode(String.self, forKey: .type)
                errorCode = try? container.decode(String.self, forKey: .errorCode)
                appleStatus =
                    (try? container.decode(Int.self, forKey: .statusCode))
                    ?? (try? container.decode(Int.self, forKey: .statusCodeInSnakeCase))
                fieldViolations = try? container.decode([Violation].self, forKey: .fieldViolations)
                violations = try? container.decode([Violation].self, forKey: .violations)
                retryDelay = try? container.decode(String.self, forKey: .retryDelay)
            }
        }

        struct Violation: Decodable {
            var field: String?
            var subject: String?
            var description: String?
        }
    }
}
