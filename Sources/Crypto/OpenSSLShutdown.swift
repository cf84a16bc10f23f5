import COpenSSL

/// Has OpenSSL free nothing of its own when the process ends: threads of ours or of a library may still be in it while exit(3)
/// runs, and would find it gone. To be called before anything uses OpenSSL. See OPENSSL_init_crypto(3), OPENSSL_INIT_NO_ATEXIT.
package func keepOpenSSLUntilTheEnd() {
    _ = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
}
