// The identity of a TLS server: certificate, chain and key, read from PEM files.
#include "internal.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void hearth_set_reason(char *reason, const char *what, const char *why) {
    snprintf(reason, HEARTH_REASON_SIZE, "%s: %s", what, why);
}

static const char *openssl_reason(void) {
    unsigned long error = ERR_peek_error();
    const char *text = error ? ERR_reason_error_string(error) : NULL;
    if (!text && error && ERR_SYSTEM_ERROR(error)) text = strerror(ERR_GET_REASON(error));
    return text ? text : "unknown OpenSSL error";
}

// The content of a PEM file: a certificate, or a private key.
static void look_into(const char *path, bool *has_certificate, bool *has_key) {
    *has_certificate = *has_key = false;
    FILE *file = fopen(path, "re");
    if (!file) return;
    char line[256];
    // Far more lines than any chain has.
    for (int count = 0; count < 100000 && fgets(line, sizeof line, file); count++) {
        if (strncmp(line, "-----BEGIN ", 11)) continue;
        if (strstr(line, "CERTIFICATE")) *has_certificate = true;
        if (strstr(line, "PRIVATE KEY")) *has_key = true;
    }
    fclose(file);
}

// Gives the reason for a file that could not be read: most often it is the wrong file.
static void explain(char *reason, const char *path, bool wants_key) {
    bool has_certificate = false, has_key = false;
    look_into(path, &has_certificate, &has_key);
    const char *why;
    if (wants_key ? has_key : has_certificate)
        why = openssl_reason();
    else if (has_certificate)
        why = "holds a certificate and no private key; are certificate and key swapped?";
    else if (has_key)
        why = "holds a private key and no certificate; are certificate and key swapped?";
    else if (access(path, R_OK))
        why = openssl_reason();
    else
        why = wants_key ? "holds no private key in PEM form (-----BEGIN PRIVATE KEY-----)"
                        : "holds no certificate in PEM form (-----BEGIN CERTIFICATE-----)";
    hearth_set_reason(reason, path, why);
}

// OpenSSL would ask for a passphrase on the terminal, and wait.
static int no_passphrase(char *buffer, int size, int is_writing, void *is_encrypted) {
    (void)buffer, (void)size, (void)is_writing;
    *(bool *)is_encrypted = true;
    return -1;
}

// Whether the last error means that certificate and key do not match: reading the key finds that.
static bool is_other_key(void) {
    unsigned long error = ERR_peek_error();
    int reason = ERR_GET_REASON(error);
    return ERR_GET_LIB(error) == ERR_LIB_X509 &&
           (reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH);
}

SSL_CTX *hearth_identity_load(const char *certificate, const char *key, char *reason) {
    ERR_clear_error();
    bool is_encrypted = false;
    SSL_CTX *identity = SSL_CTX_new(TLS_server_method());
    if (!identity) {
        hearth_set_reason(reason, "TLS", openssl_reason());
        return NULL;
    }
    SSL_CTX_set_default_passwd_cb(identity, no_passphrase);
    SSL_CTX_set_default_passwd_cb_userdata(identity, &is_encrypted);
    if (SSL_CTX_use_certificate_chain_file(identity, certificate) != 1)
        explain(reason, certificate, false);
    else if (SSL_CTX_use_PrivateKey_file(identity, key, SSL_FILETYPE_PEM) != 1) {
        if (is_encrypted)
            hearth_set_reason(reason, key, "is encrypted; keep the key without a passphrase, readable by "
                                           "the server alone");
        else if (is_other_key())
            hearth_set_reason(reason, key, "is not the key of the certificate");
        else
            explain(reason, key, true);
    } else if (SSL_CTX_check_private_key(identity) != 1)
        hearth_set_reason(reason, key, "is not the key of the certificate");
    else
        return identity;
    ERR_clear_error();
    SSL_CTX_free(identity);
    return NULL;
}

// Seconds since 1970; -1 for an invalid time.
static int64_t seconds(const ASN1_TIME *time) {
    struct tm parts;
    if (!time || ASN1_TIME_to_tm(time, &parts) != 1) return -1;
    return timegm(&parts);
}

bool hearth_certificate_read(const char *certificate, const char *key, const char *host,
                             hearth_certificate *out, char reason[HEARTH_REASON_SIZE]) {
    SSL_CTX *identity = hearth_identity_load(certificate, key, reason);
    if (!identity) return false;
    X509 *leaf = SSL_CTX_get0_certificate(identity);
    out->not_before = seconds(X509_get0_notBefore(leaf));
    out->not_after = seconds(X509_get0_notAfter(leaf));
    out->is_for_host = !host || X509_check_host(leaf, host, 0, 0, NULL) == 1 ||
                       X509_check_ip_asc(leaf, host, 0) == 1;
    ERR_clear_error();
    SSL_CTX_free(identity);
    return true;
}
