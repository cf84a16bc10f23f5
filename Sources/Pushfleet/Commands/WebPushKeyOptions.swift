import ArgumentParser
import Crypto
import Domain
import FoundationEssentials
import Transports

/// What a VAPID key's credential has beside its file.
struct WebPushKeyOptions: ParsableArguments {
    @Option(help: "webpush: whom push services write to, mailto:… or https://…") var contact: String?
    @Flag(help: "webpush: make a new key in the file, which must not exist.") var generate = false
    @Flag(help: "webpush: messages that browsers can show without a service worker.") var declarative = false
    @Flag(help: "webpush: pad messages to multiples of 256 bytes, which hides their length.") var padding = false
    @Flag(help: "webpush: without a collapse key, the thread id replaces what it showed before.") var tagByThread =
        false

    /// Everything that is wrong with them.
    func faults(transport: String, endpoint: String?) -> [String] {
        guard transport == "webpush" else {
            let isGiven = contact != nil || generate || declarative || padding || tagByThread
            return isGiven ? ["contact, generate, declarative, padding, tag-by-thread: webpush only; remove them"] : []
        }
        var faults: [String] = []
        if endpoint != nil { faults.append("endpoint: a browser's subscription names its own; remove it") }
        if !(contact.map(VAPIDKey.isContact) ?? false) {
            faults.append("contact: push services want one; use mailto:push@your.domain or https://your.domain/contact")
        }
        return faults
    }

    /// Reads the key, or makes it.
    func secret(_ path: String) throws -> CredentialSecret {
        if generate { try makeKey(path) }
        let key: VAPIDKey
        do { key = try VAPIDKey(path: path, contact: contact ?? "") } catch {
            throw CommandFailure("file: \(path): \(error)")
        }
        var facts = ["public_key": key.publicKey, "contact": key.contact]
        if declarative { facts["declarative"] = "true" }
        if padding { facts["padding"] = "true" }
        if tagByThread { facts["tag_by_thread"] = "true" }
        return CredentialSecret(
            transport: .webpush, facts: facts,
            summary: "signs for subscriptions to applicationServerKey \(key.publicKey)")
    }

    private func makeKey(_ path: String) throws {
        let pem = try P256.Signing.PrivateKey().pemRepresentation
        let isFree = !FileManager.default.fileExists(atPath: path)
        guard isFree,
            FileManager.default.createFile(
                atPath: path, contents: Data(pem.utf8), attributes: [.posixPermissions: 0o600])
        else {
            throw CommandFailure(
                isFree
                    ? "file: \(path) cannot be written; check the directory and its permissions"
                    : "file: \(path) exists; subscriptions may need that key, name another file")
        }
    }
}
