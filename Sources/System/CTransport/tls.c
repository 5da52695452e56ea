// TLS of accepted sockets: OpenSSL reads and writes the descriptor; what is read when is serving.c's to say, as for plain
// sockets, so that handshakes take their share of a tick and no more.
#include "internal.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/socket.h>

static int choose_protocol(SSL *tls, const unsigned char **chosen, unsigned char *length,
                           const unsigned char *offered, unsigned int offered_length, void *argument) {
    (void)tls, (void)argument;
    static const unsigned char known[] = "\x08http/1.1";
    unsigned char *common = NULL;
    if (SSL_select_next_proto(&common, length, known, sizeof known - 1, offered, offered_length) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *chosen = common;
    return SSL_TLSEXT_ERR_OK;
}

bool hearth_tls_configure(SSL_CTX *identity) {
    // Of TLS 1.2, only what TLS 1.3 still has: a key stolen later decrypts nothing recorded before, and no cipher
    // needs a check of its padding.
    if (SSL_CTX_set_min_proto_version(identity, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_cipher_list(identity, "ECDHE+AESGCM:ECDHE+CHACHA20") != 1)
        return false;
    SSL_CTX_set_options(identity, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    // Sessions are kept by clients alone, in tickets.
    SSL_CTX_set_session_cache_mode(identity, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(identity, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                   SSL_MODE_RELEASE_BUFFERS);
    // A read takes one record, also where it brings nothing: the rest of them is for the next tick.
    SSL_CTX_clear_mode(identity, SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_alpn_select_cb(identity, choose_protocol, NULL);
    return true;
}

SSL *hearth_tls_begin(SSL_CTX *identity, int descriptor) {
    SSL *tls = SSL_new(identity);
    if (!tls) return NULL;
    if (SSL_set_fd(tls, descriptor) != 1) {
        SSL_free(tls);
        return NULL;
    }
    SSL_set_accept_state(tls);
    return tls;
}

ptrdiff_t hearth_tls_read(hearth_socket *socket, uint8_t *bytes, size_t byte_count) {
    socket->reads_when_writable = false;
    ERR_clear_error();
    size_t count = 0;
    // Until the handshake is over, its next step.
    if (SSL_read_ex(socket->tls, bytes, byte_count, &count) == 1) {
        socket->has_spoken = true;
        return (ptrdiff_t)count;
    }
    int error = SSL_get_error(socket->tls, 0);
    ERR_clear_error();
    if (error == SSL_ERROR_WANT_READ) return 0;
    if (error != SSL_ERROR_WANT_WRITE) return -1;
    socket->reads_when_writable = true;
    hearth_socket_want_writable(socket);
    return 0;
}

ptrdiff_t hearth_tls_send(hearth_socket *socket, const uint8_t *bytes, size_t byte_count) {
    size_t sent = 0;
    while (sent < byte_count) {
        ERR_clear_error();
        size_t taken = 0;
        if (SSL_write_ex(socket->tls, bytes + sent, byte_count - sent, &taken) == 1) {
            sent += taken;
            continue;
        }
        int error = SSL_get_error(socket->tls, 0);
        ERR_clear_error();
        if (error == SSL_ERROR_WANT_WRITE || error == SSL_ERROR_WANT_READ) break;
        return -1;
    }
    return (ptrdiff_t)sent;
}

bool hearth_tls_is_opening(const hearth_socket *socket) { return !SSL_is_init_finished(socket->tls); }

void hearth_tls_finish(hearth_socket *socket) {
    ERR_clear_error();
    SSL_shutdown(socket->tls);
    ERR_clear_error();
}

bool hearth_answers_plain_http(int descriptor) {
    static const char answer[] =
        "HTTP/1.1 400 Bad Request\r\n"
        "Content-Type: application/json; charset=utf-8\r\n"
        "Content-Length: 77\r\n"
        "Connection: close\r\n\r\n"
        "{\n  \"error\" : \"this port speaks TLS: use https:// and wss:// to reach it.\"\n}\n";
    char start[4096];
    ssize_t count = recv(descriptor, start, sizeof start, MSG_PEEK | MSG_DONTWAIT);
    const char *end = count > 0 ? memchr(start, '\r', (size_t)count) : NULL;
    if (!end || !memmem(start, (size_t)(end - start), " HTTP/1.", 8)) return false;
    // Unread input would turn the close into a reset, which drops the answer.
    for (int reads = 0; reads < 16; reads++)
        if (recv(descriptor, start, sizeof start, MSG_DONTWAIT) < (ssize_t)sizeof start) break;
    if (send(descriptor, answer, sizeof answer - 1, MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
        shutdown(descriptor, SHUT_WR);
    return true;
}
