/// Why a server could not be set up.
package struct HTTP2Error: Error, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable, CaseIterable {
        /// The host is no address of this machine, or the port is taken.
        case bindFailed
        /// Certificate or key cannot be read, or do not belong together.
        case badCertificate
        /// A library refused to work, out of memory most likely.
        case library
    }

    package let code: Code
    package let detail: String
    package let file: String
    package let line: UInt

    init(_ code: Code, _ detail: String, file: String = #fileID, line: UInt = #line) {
        self.code = code
        self.detail = detail
        self.file = file
        self.line = line
    }

    package var description: String { "HTTP/2 \(code.rawValue): \(detail) (\(file):\(line))" }
}
