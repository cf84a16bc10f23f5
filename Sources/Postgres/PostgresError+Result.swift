import CLibPQ
import Glibc

extension PostgresError {
    /// Reads the error that a result is.
    init(reading result: OpaquePointer) {
        func field(_ code: Character) -> String? {
            PQresultErrorField(result, Int32(code.asciiValue!)).map { String(cString: $0) }
        }
        // PG_DIAG_SQLSTATE and so on, which are macros: PostgreSQL manual 34.3.1.
        guard let sqlState = field("C") else {
            // libpq's own, such as the end of the connection.
            self.init(.other, oneLine(String(cString: PQresultErrorMessage(result))))
            return
        }
        var code = Code(sqlState: sqlState)
        // "cached plan must not change result type" has no code of its own.
        if sqlState == "0A000", field("R") == "RevalidateCachedQuery" { code = .staleStatement }
        let message = field("M") ?? ""
        self.init(
            code, code == .invalidValue ? Self.withoutValues(message) : message, sqlState: sqlState,
            detail: code == .raised ? field("D") : nil, constraint: field("n"))
    }

    /// Blanks what a message quotes, but for names: of a bad value it quotes that. `invalid input syntax for type
    /// integer: "…"`.
    static func withoutValues(_ message: String) -> String {
        let parts = message.split(separator: "\"", omittingEmptySubsequences: false)
        guard parts.count > 1 else { return message }
        var text = ""
        for (index, part) in parts.enumerated() {
            guard !index.isMultiple(of: 2) else {
                text += part
                continue
            }
            let isName = ["column ", "type ", "encoding ", "relation ", "domain ", "enum "].contains {
                parts[index - 1].hasSuffix($0)
            }
            text += isName ? "\"\(part)\"" : "\"…\""
        }
        return text
    }
}
