#ifndef PUSHFLEET_COPENSSL_H
#define PUSHFLEET_COPENSSL_H
#include <openssl/ssl.h>
#include <openssl/evp.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/err.h>
#include <openssl/kdf.h>
#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/ecdsa.h>
#include <openssl/bn.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// The parameters keep pointers to names, which Swift would free before they are read.
static inline int copenssl_use_sha256(EVP_MAC_CTX *context) {
    char digest[] = "SHA256";
    OSSL_PARAM settings[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0), OSSL_PARAM_construct_end()};
    return EVP_MAC_CTX_set_params(context, settings);
}
#endif
