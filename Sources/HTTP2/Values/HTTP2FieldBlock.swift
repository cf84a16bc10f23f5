import CNghttp2
import Glibc

/// Header fields that many requests share (`authorization`, `content-type`, ...). Make one and submit it many times: the
/// values stay where they are, and compression sends each as one byte once the server knows it.
package struct HTTP2FieldBlock: Sendable {
    let storage: Storage

    /// - Parameter fields: names in lower case; a value that few requests share should be `noIndex`.
    package init(_ fields: [HTTP2Field]) { storage = Storage(fields) }

    package init(_ fields: KeyValuePairs<StaticString, String>) {
        self.init(fields.map { HTTP2Field($0.key, $0.value, noIndex: false) })
    }

    /// Bytes that do not move while libnghttp2 points at them. Written once, in `init`, and only read thereafter.
    final class Storage: @unchecked Sendable {
        let entries: UnsafeMutablePointer<nghttp2_nv>
        let count: Int
        private let bytes: UnsafeMutablePointer<UInt8>

        init(_ fields: [HTTP2Field]) {
            count = fields.count
            entries = .allocate(capacity: max(1, fields.count))
            bytes = .allocate(capacity: max(1, fields.reduce(0) { $0 + $1.value.count }))
            var next = bytes
            for (index, field) in fields.enumerated() {
                next.update(from: field.value, count: field.value.count)
                var flags = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue
                if field.noIndex { flags |= NGHTTP2_NV_FLAG_NO_INDEX.rawValue }
                let entry = nghttp2_nv(field.name, next, field.value.count, flags: flags)
                (entries + index).initialize(to: entry)
                next += field.value.count
            }
        }

        deinit {
            entries.deallocate()
            bytes.deallocate()
        }
    }
}

extension nghttp2_nv {
    init(_ name: StaticString, _ value: UnsafeMutablePointer<UInt8>, _ count: Int, flags: UInt32) {
        self.init(
            name: UnsafeMutablePointer(mutating: name.utf8Start), value: value, namelen: name.utf8CodeUnitCount,
            valuelen: count, flags: UInt8(truncatingIfNeeded: flags))
    }

    /// Name and value are literals of the program, which stay where they are.
    init(_ name: StaticString, _ value: StaticString) {
        let flags = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue
        self.init(name, UnsafeMutablePointer(mutating: value.utf8Start), value.utf8CodeUnitCount, flags: flags)
    }
}
