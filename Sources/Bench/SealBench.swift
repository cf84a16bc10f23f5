import ArgumentParser
import Crypto

/// Web Push encryption alone, as the transport does it: a key pair for each message (RFC 8291).
struct SealBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seal", abstract: "Encrypts many messages for one browser.",
        discussion: "EXAMPLE\n  Bench seal --key BASE64URL --secret BASE64URL --bytes 250 --messages 20000")
    @Option(help: "The browser's p256dh.") var key: String
    @Option(help: "The browser's auth.") var secret: String
    @Option(help: "Length of the text.") var bytes = 250
    @Option(help: "Messages.") var messages = 20_000

    func run() throws {
        guard let point = Base64URL.decode(key), let shared = Base64URL.decode(secret) else {
            throw ValidationError("key, secret: no base64url; give what the browser's subscription holds")
        }
        let recipient = try EncryptedContent.Recipient(publicKey: point, secret: shared)
        let sealer = try EncryptedContent.Sealer()
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: bytes)
        var length = 0
        for _ in 0..<messages { length += try sealer.seal(text, for: recipient).count }
        print(#"{"requests": \#(messages), "ok": \#(length / (bytes + EncryptedContent.overheadByteCount))}"#)
    }
}
