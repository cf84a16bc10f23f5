import Crypto

/// What a browser keeps for one subscription. It follows from the subscription's token alone, so that whoever makes up
/// subscribers can give them the public half without asking (Scripts/lib/demo-subscribers does).
struct BrowserKeys {
    let privateKey: [UInt8]
    let secret: [UInt8]

    init(token: ArraySlice<UInt8>) {
        privateKey = SHA256.hash(data: Array("pushfleet-simulator browser key\n".utf8) + token)
        secret = Array(SHA256.hash(data: Array("pushfleet-simulator browser secret\n".utf8) + token).prefix(16))
    }

    /// - Throws: `CryptoError` for one token in 2^32, whose digest is no private key.
    func opener() throws(CryptoError) -> EncryptedContent.Opener {
        try EncryptedContent.Opener(privateKey: privateKey, secret: secret)
    }
}
