import Crypto
import Glibc

/// A certificate for `localhost`, in files that both sides read. One for all tests.
struct TestCertificate {
    static let shared = TestCertificate()

    let authorityFile: String
    let certificateFile: String
    let keyFile: String

    init(hosts: [String] = ["localhost"], addresses: [String] = ["127.0.0.1", "::1"]) {
        var template = Array("/tmp/pushfleet-http2-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { preconditionFailure("no temporary directory") }
        let directory = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        authorityFile = directory + "/authority.pem"
        certificateFile = directory + "/certificate.pem"
        keyFile = directory + "/key.pem"
        do {
            let certificate = try SelfSignedCertificate.make(hosts: hosts, addresses: addresses)
            Self.write(certificate.authorityPEM, to: authorityFile)
            Self.write(certificate.certificatePEM, to: certificateFile)
            Self.write(certificate.keyPEM, to: keyFile)
        } catch {
            preconditionFailure("no test certificate: \(error)")
        }
    }

    private static func write(_ text: String, to path: String) {
        guard let file = fopen(path, "w") else { preconditionFailure("\(path) cannot be written") }
        fputs(text, file)
        fclose(file)
    }
}
