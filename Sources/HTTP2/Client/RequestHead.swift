import CNghttp2
import Glibc

/// Puts the header fields of a request together for libnghttp2, without allocating. One for each connection.
final class RequestHead {
    private var entries: UnsafeMutablePointer<nghttp2_nv>
    private var maxFields = 64
    private let authority: UnsafeMutablePointer<UInt8>
    private var values: UnsafeMutablePointer<UInt8>
    private var capacity = 1024
    private var lastPath: [UInt8] = []

    init(authority: String) {
        let bytes = Array(authority.utf8)
        self.authority = .allocate(capacity: bytes.count)
        self.authority.initialize(from: bytes, count: bytes.count)
        values = .allocate(capacity: capacity)
        entries = .allocate(capacity: maxFields)
        let flags = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue
        (entries + 0).initialize(to: nghttp2_nv(":method", "POST"))
        (entries + 1).initialize(to: nghttp2_nv(":scheme", "https"))
        (entries + 2).initialize(to: nghttp2_nv(":authority", self.authority, bytes.count, flags: flags))
    }

    deinit {
        entries.deallocate()
        authority.deallocate()
        values.deallocate()
    }

    /// - Returns: entries that are valid until the next call. Those of the shared block are not copied by libnghttp2, so
    ///   the block must live as long as the request.
    func assemble(
        _ request: HTTP2Request, shared: HTTP2FieldBlock.Storage
    ) -> (entries: UnsafeMutablePointer<nghttp2_nv>, count: Int) {
        let count = 4 + shared.count + request.fields.count
        reserve(fields: count, values: request.fields.reduce(request.path.count) { $0 + $1.value.count })
        var next = values
        // Where all requests have one path (FCM), compression makes it a byte.
        let isRepeated = request.path == lastPath
        if !isRepeated { lastPath = request.path }
        next.update(from: request.path, count: request.path.count)
        entries[3] = nghttp2_nv(":path", next, request.path.count, flags: Self.flags(noIndex: !isRepeated))
        next += request.path.count
        (entries + 4).update(from: shared.entries, count: shared.count)
        var index = 4 + shared.count
        for field in request.fields {
            next.update(from: field.value, count: field.value.count)
            entries[index] = nghttp2_nv(field.name, next, field.value.count, flags: Self.flags(noIndex: field.noIndex))
            next += field.value.count
            index += 1
        }
        return (entries, count)
    }

    private static func flags(noIndex: Bool) -> UInt32 {
        NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | (noIndex ? NGHTTP2_NV_FLAG_NO_INDEX.rawValue : 0)
    }

    private func reserve(fields: Int, values size: Int) {
        if fields > maxFields {
            let larger = UnsafeMutablePointer<nghttp2_nv>.allocate(capacity: fields)
            larger.update(from: entries, count: 3)  // those that stay
            entries.deallocate()
            entries = larger
            maxFields = fields
        }
        if size > capacity {
            values.deallocate()
            values = .allocate(capacity: size)
            capacity = size
        }
    }
}
