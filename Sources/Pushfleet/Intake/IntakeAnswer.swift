import FoundationEssentials
import PlainHTTPServer

/// One thing that is wrong with a call.
struct IntakeProblem: Encodable, Equatable {
    /// JSON pointer into the body; empty = the call or the body as a whole.
    var pointer: String
    var code: String
    var message: String
}

/// What a call is answered with.
struct IntakeAnswer {
    private struct Errors: Encodable { let errors: [IntakeProblem] }

    var status: UInt32
    var headers: [(String, String)] = []
    /// nil = none.
    var json: String?

    var response: HTTPServerResponse {
        guard let json else { return HTTPServerResponse(status: status, headers: headers) }
        var response = HTTPServerResponse(status: status, json: json)
        response.headers += headers
        return response
    }

    static func value(_ status: UInt32, _ value: some Encodable) throws -> IntakeAnswer {
        IntakeAnswer(status: status, json: try exactJSONLine(value))
    }

    static func errors(_ status: UInt32, _ problems: [IntakeProblem]) throws -> IntakeAnswer {
        try value(status, Errors(errors: problems))
    }

    static func error(
        _ status: UInt32, _ code: String, _ message: String, headers: [(String, String)] = []
    ) throws -> IntakeAnswer {
        var answer = try errors(status, [IntakeProblem(pointer: "", code: code, message: message)])
        answer.headers = headers
        return answer
    }
}
