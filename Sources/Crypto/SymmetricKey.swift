import COpenSSL

/// A secret byte string. Its memory is wiped when the last copy goes; printing, dumping or interpolating it shows its
/// length only.
package struct SymmetricKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let storage: SecretStorage

    package init(data: [UInt8]) { storage = SecretStorage(data) }

    /// Bytes, not bits.
    package var count: Int { storage.buffer.count }

    package var description: String { "SymmetricKey(\(count) bytes)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }

    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(storage.buffer))
    }
}

/// `@unchecked`: the buffer is written in `init` and `deinit` only.
private final class SecretStorage: @unchecked Sendable {
    let buffer: UnsafeMutableRawBufferPointer

    init(_ bytes: [UInt8]) {
        // At least one byte, so that the base address is never nil: OpenSSL takes nil for "keep the previous key".
        let memory = UnsafeMutableRawPointer.allocate(byteCount: max(bytes.count, 1), alignment: 1)
        buffer = UnsafeMutableRawBufferPointer(start: memory, count: bytes.count)
        buffer.copyBytes(from: bytes)
    }

    deinit {
        OPENSSL_cleanse(buffer.baseAddress, buffer.count)
        buffer.baseAddress?.deallocate()
    }
}
