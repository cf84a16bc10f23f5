import COpenSSL

/// Collects what one of OpenSSL's PEM writers writes.
enum PEMText {
    static func write(_ body: (OpaquePointer) -> Int32) throws(CryptoError) -> String {
        guard let sink = BIO_new(BIO_s_mem()) else { throw .fromLibrary(while: "writing PEM") }
        defer { BIO_free(sink) }
        guard body(sink) == 1 else { throw .fromLibrary(while: "writing PEM") }
        var text = [UInt8](repeating: 0, count: Int(BIO_ctrl_pending(sink)))
        let read = BIO_read(sink, &text, Int32(text.count))
        defer { OPENSSL_cleanse(&text, text.count) }
        return String(decoding: text.prefix(Int(max(read, 0))), as: UTF8.self)
    }
}
