import COpenSSL

/// A throw-away authority and a server certificate signed by it, for tests, the simulator and the demonstration.
package struct SelfSignedCertificate: Sendable {
    /// What clients trust.
    package let authorityPEM: String
    /// What the server presents: its own certificate, then the authority's.
    package let certificatePEM: String
    /// The server's private key, unencrypted PKCS#8.
    package let keyPEM: String

    /// P-256 keys, SHA-256 signatures, valid from an hour ago.
    /// - Parameters:
    ///   - hosts: DNS names of the server.
    ///   - addresses: IP addresses of the server, in text.
    ///   - days: how long it is valid.
    /// - Throws: `.library` also when an address is none.
    package static func make(
        hosts: [String] = ["localhost"], addresses: [String] = ["127.0.0.1", "::1"], days: Int = 30
    ) throws(CryptoError) -> SelfSignedCertificate {
        let authorityKey = try KeyHandle.generate("EC", group: "prime256v1")
        let serverKey = try KeyHandle.generate("EC", group: "prime256v1")
        let authority = try CertificateDraft(subject: "Pushfleet test authority", key: authorityKey, days: days)
        try authority.add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0", issuer: authority)
        try authority.add(NID_key_usage, "critical,keyCertSign,cRLSign", issuer: authority)
        try authority.add(NID_subject_key_identifier, "hash", issuer: authority)
        try authority.sign(issuer: authority, key: authorityKey)

        let server = try CertificateDraft(subject: hosts.first ?? "localhost", key: serverKey, days: days)
        let names = hosts.map { "DNS:\($0)" } + addresses.map { "IP:\($0)" }
        try server.add(NID_basic_constraints, "critical,CA:FALSE", issuer: authority)
        try server.add(NID_key_usage, "critical,digitalSignature", issuer: authority)
        try server.add(NID_ext_key_usage, "serverAuth", issuer: authority)
        try server.add(NID_subject_alt_name, names.joined(separator: ","), issuer: authority)
        try server.add(NID_authority_key_identifier, "keyid:always", issuer: authority)
        try server.sign(issuer: authority, key: authorityKey)

        let authorityPEM = try authority.pem
        return SelfSignedCertificate(
            authorityPEM: authorityPEM, certificatePEM: try server.pem + authorityPEM, keyPEM: try serverKey.privatePEM)
    }
}

extension SelfSignedCertificate: CustomStringConvertible, CustomReflectable {
    package var description: String { "certificate and key" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Owner of an `X509` while it is put together.
private final class CertificateDraft {
    private let pointer: OpaquePointer

    init(subject: String, key: KeyHandle, days: Int) throws(CryptoError) {
        guard let pointer = X509_new() else { throw .fromLibrary(while: "making a certificate") }
        self.pointer = pointer
        var serial = try SecureRandom.bytes(8)
        serial[0] &= 0x7F  // a positive number (RFC 5280 §4.1.2.2)
        let name = X509_get_subject_name(pointer)
        guard X509_set_version(pointer, 2) == 1,  // numbered from zero: version 3
            ASN1_INTEGER_set_uint64(X509_get_serialNumber(pointer), serial.reduce(0) { $0 << 8 | UInt64($1) }) == 1,
            X509_gmtime_adj(X509_getm_notBefore(pointer), -3600) != nil,
            X509_gmtime_adj(X509_getm_notAfter(pointer), days * 86_400) != nil,
            X509_set_pubkey(pointer, key.pointer) == 1,
            X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, subject, Int32(subject.utf8.count), -1, 0) == 1
        else { throw .fromLibrary(while: "making a certificate") }
    }

    deinit { X509_free(pointer) }

    /// - Parameter value: in the notation of OpenSSL's x509v3_config(5).
    func add(_ extensionID: Int32, _ value: String, issuer: CertificateDraft) throws(CryptoError) {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer.pointer, pointer, nil, nil, 0)
        guard let added = X509V3_EXT_nconf_nid(nil, &context, extensionID, value) else {
            throw .fromLibrary(while: "making a certificate extension")
        }
        defer { X509_EXTENSION_free(added) }
        guard X509_add_ext(pointer, added, -1) == 1 else { throw .fromLibrary(while: "adding a certificate extension") }
    }

    func sign(issuer: CertificateDraft, key: KeyHandle) throws(CryptoError) {
        guard X509_set_issuer_name(pointer, X509_get_subject_name(issuer.pointer)) == 1,
            X509_sign(pointer, key.pointer, EVP_sha256()) > 0
        else { throw .fromLibrary(while: "signing a certificate") }
    }

    var pem: String {
        get throws(CryptoError) { try PEMText.write { sink in PEM_write_bio_X509(sink, pointer) } }
    }
}
