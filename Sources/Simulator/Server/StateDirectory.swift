import Crypto
import FoundationEssentials

/// The files that the simulator hands to its clients, readable by their owner alone.
///
/// They are kept from one start to the next, so that clients set up before still trust it; certificates are made anew
/// before they expire.
struct StateDirectory {
    private static let renewal: TimeInterval = 20 * 86_400

    let path: String

    var authorityFile: String { path + "/ca.pem" }
    var certificateFile: String { path + "/server.pem" }
    var keyFile: String { path + "/server-key.pem" }

    /// The first project's file has the plain name.
    func accountFile(_ project: String, isFirst: Bool) -> String {
        path + (isFirst ? "/service-account.json" : "/service-account-\(project).json")
    }

    init(_ path: String) throws {
        self.path = path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Makes authority and certificate, unless there are some that will still be valid for days.
    /// - Parameter host: an address to listen on, beside those of this machine itself.
    func prepareCertificate(host: String) throws {
        let isAddress = host.allSatisfy { $0.isHexDigit || $0 == "." || $0 == ":" }
        let hosts = Set(["localhost"] + (isAddress ? [] : [host])).sorted()
        let addresses = Set(["127.0.0.1", "::1"] + (isAddress ? [host] : [])).sorted()
        let names = (hosts + addresses).joined(separator: "\n")
        let namesFile = path + "/server-names"
        let isComplete = [authorityFile, certificateFile, keyFile].allSatisfy(isFresh)
        if isComplete, read(namesFile) == names { return }
        let made = try SelfSignedCertificate.make(hosts: hosts, addresses: addresses)
        try write(made.authorityPEM, to: authorityFile)
        try write(made.certificatePEM, to: certificateFile)
        try write(made.keyPEM, to: keyFile)
        try write(names, to: namesFile)
    }

    /// Makes the project's key file, or points the one that is there at this start's token endpoint.
    func prepareAccount(_ project: String, isFirst: Bool, tokenURI: String) throws -> ServiceAccount {
        let file = accountFile(project, isFirst: isFirst)
        var keyFile: ServiceAccount.KeyFile
        if let text = read(file),
            let known = try? JSONDecoder().decode(ServiceAccount.KeyFile.self, from: Data(text.utf8)),
            known.projectID == project
        {
            keyFile = known
            keyFile.tokenURI = tokenURI
        } else {
            keyFile = try ServiceAccount.make(project: project, tokenURI: tokenURI)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try write(String(decoding: encoder.encode(keyFile), as: UTF8.self), to: file)
        return try ServiceAccount(keyFile)
    }

    /// Replaces the file at once: no reader sees half of it.
    func write(_ text: String, to file: String) throws {
        try Data(text.utf8).write(to: URL(filePath: file), options: .atomic)
        // The directory lets nobody else in meanwhile.
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    }

    private func read(_ file: String) -> String? {
        FileManager.default.contents(atPath: file).map { String(decoding: $0, as: UTF8.self) }
    }

    private func isFresh(_ file: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        guard let made = attributes?[.modificationDate] as? Date else { return false }
        return Date().timeIntervalSince(made) < Self.renewal
    }
}
