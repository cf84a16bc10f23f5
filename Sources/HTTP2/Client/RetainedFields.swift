import Glibc

/// The names of response fields to keep, laid out for comparing.
final class RetainedFields {
    /// Longer values are cut: nothing that we keep is long.
    static let maxValue = 4096

    private let names: [(text: String, bytes: [UInt8])]

    init(_ names: [String]) { self.names = names.map { ($0, Array($0.utf8)) } }

    func match(_ name: UnsafePointer<UInt8>, _ count: Int) -> String? {
        for candidate in names where candidate.bytes.count == count {
            let isSame = candidate.bytes.withUnsafeBufferPointer { memcmp($0.baseAddress!, name, count) == 0 }
            if isSame { return candidate.text }
        }
        return nil
    }
}
