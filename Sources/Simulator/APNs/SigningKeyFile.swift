import Crypto
import FoundationEssentials

/// The credential file for APNs that the simulator hands out: what `pushfleet credential add --transport apns` takes.
struct SigningKeyFile: Codable {
    var teamID: String
    var keyID: String
    var topic: String
    /// The .p8 file beside it.
    var keyFile: String
    var productionEndpoint: String
    var sandboxEndpoint: String

    enum CodingKeys: String, CodingKey {
        case topic
        case teamID = "team_id"
        case keyID = "key_id"
        case keyFile = "key_file"
        case productionEndpoint = "production_endpoint"
        case sandboxEndpoint = "sandbox_endpoint"
    }
}

extension StateDirectory {
    private static let letters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")

    var signingKeyFile: String { path + "/apns.json" }

    /// Makes key and credential file, or points those that are there at this start's addresses.
    func prepareSigningKey(topic: String, production: String, sandbox: String) throws -> ProviderTokens.Key {
        var file: SigningKeyFile
        if let text = FileManager.default.contents(atPath: signingKeyFile),
            let known = try? JSONDecoder().decode(SigningKeyFile.self, from: text), known.topic == topic
        {
            file = known
        } else {
            let keyID = try Self.randomID()
            file = SigningKeyFile(
                teamID: try Self.randomID(), keyID: keyID, topic: topic, keyFile: "AuthKey_\(keyID).p8",
                productionEndpoint: production, sandboxEndpoint: sandbox)
            try write(P256.Signing.PrivateKey().pemRepresentation, to: path + "/" + file.keyFile)
        }
        (file.productionEndpoint, file.sandboxEndpoint) = (production, sandbox)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try write(String(decoding: encoder.encode(file), as: UTF8.self), to: signingKeyFile)
        let pem = try String(contentsOfFile: path + "/" + file.keyFile, encoding: .utf8)
        return ProviderTokens.Key(
            teamID: file.teamID, keyID: file.keyID, topic: topic,
            publicKey: try P256.Signing.PrivateKey(pemRepresentation: pem).publicKey)
    }

    /// 10 characters, as Apple's ids of keys and teams.
    private static func randomID() throws -> String {
        String(try SecureRandom.bytes(10).map { letters[Int($0) % letters.count] })
    }
}
