import Crypto
import FoundationEssentials
import Glibc

/// A certificate for `localhost`, in files that both sides read. One for all tests.
struct TestCertificate {
    static let shared = TestCertificate()

    /// Holds the folders of all certificates and goes with the process.
    private static let folder: String = {
        atexit { try? FileManager.default.removeItem(atPath: TestCertificate.folder) }
        return newFolder(in: "/tmp")
    }()

    private let authorityPEM: String
    let authorityFile: String
    let certificateFile: String
    let keyFile: String

    init(hosts: [String] = ["localhost"], addresses: [String] = ["127.0.0.1", "::1"]) {
        let directory = Self.newFolder(in: Self.folder)
        authorityFile = directory + "/authority.pem"
        certificateFile = directory + "/certificate.pem"
        keyFile = directory + "/key.pem"
        do {
            let certificate = try SelfSignedCertificate.make(hosts: hosts, addresses: addresses)
            authorityPEM = certificate.authorityPEM
            Self.write(authorityPEM, to: authorityFile)
            Self.write(certificate.certificatePEM, to: certificateFile)
            Self.write(certificate.keyPEM, to: keyFile)
        } catch {
            preconditionFailure("no test certificate: \(error)")
        }
    }

    /// A file of its own, to be moved elsewhere.
    func copyOfAuthority() -> String {
        let path = authorityFile + ".copy"
        Self.write(authorityPEM, to: path)
        return path
    }

    private static func newFolder(in parent: String) -> String {
        var template = Array("\(parent)/pushfleet-http2-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { preconditionFailure("no temporary directory") }
        return template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    }

    private static func write(_ text: String, to path: String) {
        guard let file = fopen(path, "w") else { preconditionFailure("\(path) cannot be written") }
        fputs(text, file)
        fclose(file)
    }
}
