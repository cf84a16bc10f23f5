import HTTP2

/// FCM's answers that are no success, shaped as FCM's own (fcm.md §8).
struct FCMAnswer {
    let response: HTTP2ServerResponse
    /// What it is counted and journalled under.
    let reason: String

    private init(_ response: HTTP2ServerResponse, _ reason: String) {
        self.response = response
        self.reason = reason
    }

    private init(
        _ code: Int, _ status: String, _ message: String, fcm: String? = nil, reason: String? = nil,
        details more: [String] = [], fields: [(String, String)] = []
    ) {
        let fcmError = fcm.map { #"{"@type":"\#(Self.prefix)google.firebase.fcm.v1.FcmError","errorCode":"\#($0)"}"# }
        let details = (fcmError.map { [$0] } ?? []) + more
        let list = details.isEmpty ? "" : #","details":[\#(details.joined(separator: ","))]"#
        let text =
            #"{"error":{"code":\#(code),"message":\#(JSONWriter.quoted(message)),"status":"\#(status)"\#(list)}}"#
        var response = HTTP2ServerResponse.json(code, text)
        response.fields += fields
        self.init(response, reason ?? fcm ?? status)
    }

    private static let prefix = "type.googleapis.com/"

    /// 400 for a body that does not pass.
    static func refused(_ violation: Violation) -> FCMAnswer {
        let badRequest = Self.badRequest(field: violation.field, description: violation.description)
        return switch violation.detail {
        case .request: FCMAnswer(400, "INVALID_ARGUMENT", violation.message, details: [badRequest])
        case .message:
            FCMAnswer(400, "INVALID_ARGUMENT", violation.message, fcm: "INVALID_ARGUMENT", details: [badRequest])
        case .bare: FCMAnswer(400, "INVALID_ARGUMENT", violation.message, fcm: "INVALID_ARGUMENT")
        }
    }

    private static func badRequest(field: String, description: String) -> String {
        let place = field.isEmpty ? "" : #""field":\#(JSONWriter.quoted(field)),"#
        return #"{"@type":"\#(prefix)google.rpc.BadRequest","fieldViolations":"#
            + #"[{\#(place)"description":\#(JSONWriter.quoted(description))}]}"#
    }

    private static func errorInfo(_ reason: String, metadata: String) -> String {
        #"{"@type":"\#(prefix)google.rpc.ErrorInfo","reason":"\#(reason)","domain":"googleapis.com","#
            + #""metadata":{\#(metadata)}}"#
    }

    // MARK: Before the body is read

    static let unauthenticated = FCMAnswer(
        401, "UNAUTHENTICATED",
        "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid "
            + "authentication credential.",
        fields: [("www-authenticate", #"Bearer realm="https://accounts.google.com/", error="invalid_token""#)])

    static let missingCredential = FCMAnswer(
        401, "UNAUTHENTICATED",
        "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or other "
            + "valid authentication credential.",
        details: [errorInfo("CREDENTIALS_MISSING", metadata: #""service":"fcm.googleapis.com""#)],
        fields: [("www-authenticate", #"Bearer realm="https://accounts.google.com/""#)])

    static let expiredToken = FCMAnswer(
        401, "UNAUTHENTICATED", "Request had invalid authentication credentials.",
        details: [errorInfo("ACCESS_TOKEN_EXPIRED", metadata: #""service":"fcm.googleapis.com""#)],
        fields: [("www-authenticate", #"Bearer realm="https://accounts.google.com/", error="invalid_token""#)])

    /// No `FcmError`: the project, not the token, is unknown.
    static let unknownProject = FCMAnswer(404, "NOT_FOUND", "Requested entity was not found.")

    static let otherProject = FCMAnswer(
        403, "PERMISSION_DENIED", "Permission 'cloudmessaging.messages.create' denied on resource.",
        details: [
            errorInfo("IAM_PERMISSION_DENIED", metadata: #""permission":"cloudmessaging.messages.create""#)
        ])

    static let wrongContentType = FCMAnswer.refused(
        Violation(.request, message: "Invalid JSON payload received. The content type is not application/json."))

    static let notFound = FCMAnswer(.html(404, "Error 404 (Not Found)!!1"), "NOT_FOUND")

    // MARK: Faults

    static let unregistered = FCMAnswer(404, "NOT_FOUND", "Requested entity was not found.", fcm: "UNREGISTERED")
    static let badToken = FCMAnswer.refused(Violation.badToken.inside("token").inside("message"))
    static let mismatch = FCMAnswer(403, "PERMISSION_DENIED", "SenderId mismatch", fcm: "SENDER_ID_MISMATCH")
    static let thirdPartyAuth = FCMAnswer(
        401, "UNAUTHENTICATED", "Auth error from APNS or Web Push Service", fcm: "THIRD_PARTY_AUTH_ERROR")
    static let internalError = FCMAnswer(500, "INTERNAL", "Internal error encountered.", fcm: "INTERNAL")
    static let badGateway = FCMAnswer(.html(502, "Error 502 (Server Error)!!1"), "BAD_GATEWAY")
    static let empty = FCMAnswer(.json(200, [UInt8]()), "EMPTY")

    static func unavailable(retryAfter: Int) -> FCMAnswer {
        FCMAnswer(
            503, "UNAVAILABLE", "The service is currently unavailable.", fcm: "UNAVAILABLE",
            fields: [("retry-after", String(retryAfter))])
    }

    static func quotaExceeded(retryAfter: Int) -> FCMAnswer {
        FCMAnswer(
            429, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric 'Message sends'.", fcm: "QUOTA_EXCEEDED",
            details: [
                #"{"@type":"\#(prefix)google.rpc.QuotaFailure","violations":"#
                    + #"[{"subject":"project","description":"Message rate per project."}]}"#
            ], fields: [("retry-after", String(retryAfter))])
    }
}
