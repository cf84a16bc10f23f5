import Foundation

/// A file that goes away with its owner.
final class TemporaryFile: Sendable {
    let path: String

    init(_ contents: [UInt8]) throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try write(contents)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ contents: [UInt8]) throws { try Data(contents).write(to: URL(fileURLWithPath: path)) }
}
