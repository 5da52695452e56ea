// Stream sockets: libwebsockets accepts TLS, watches and reads them; sending is done here.
//
// lws_write is not used: what a full socket does not take it copies to a list of its own, and while
// that list is not empty it neither reads the socket nor stops watching it, so that a peer who
// sends without reading makes the loop spin.
#include "internal.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

static ptrdiff_t send_tls(SSL *ssl, const uint8_t *bytes, size_t byte_count) {
    size_t sent = 0;
    while (sent < byte_count) {
        ERR_clear_error();
        size_t taken = 0;
        if (SSL_write_ex(ssl, bytes + sent, byte_count - sent, &taken) == 1) {
            sent += taken;
            continue;
        }
        int error = SSL_get_error(ssl, 0);
        ERR_clear_error();
        if (error == SSL_ERROR_WANT_WRITE || error == SSL_ERROR_WANT_READ) break;
        return -1;
    }
    return (ptrdiff_t)sent;
}

ptrdiff_t hearth_socket_send(hearth_socket *socket, const uint8_t *bytes, size_t byte_count) {
    SSL *ssl = lws_get_ssl(socket);
    if (ssl) return send_tls(ssl, bytes, byte_count);
    ssize_t sent;
    do {
        sent = send(lws_get_socket_fd(socket), bytes, byte_count, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    if (sent >= 0) return sent;
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ? 0 : -1;
}

void hearth_socket_want_writable(hearth_socket *socket) { lws_callback_on_writable(socket); }

void hearth_socket_pause(hearth_socket *socket, bool paused) {
    lws_rx_flow_control(socket, paused ? 0 : 1);
}

void hearth_socket_finish(hearth_socket *socket) {
    SSL *ssl = lws_get_ssl(socket);
    if (ssl) {
        ERR_clear_error();
        SSL_shutdown(ssl);
        ERR_clear_error();
    }
    shutdown(lws_get_socket_fd(socket), SHUT_WR);
}

void hearth_socket_destroy(hearth_socket *socket) {
    lws_set_timeout(socket, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC);
}

int hearth_lws_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                        size_t length) {
    if (reason == LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS) {
        hearth_loop *loop = lws_context_user(lws_get_context(wsi));
        return loop->configuring ? hearth_listener_configure_tls(loop->configuring, user) : 0;
    }
    if (reason != LWS_CALLBACK_RAW_RX && reason != LWS_CALLBACK_RAW_WRITEABLE &&
        reason != LWS_CALLBACK_RAW_CLOSE)
        return 0;
    void *owner = lws_get_opaque_user_data(wsi);
    if (!owner) return 0;
    const hearth_callbacks *callbacks =
        &((hearth_loop *)lws_context_user(lws_get_context(wsi)))->callbacks;
    switch (reason) {
    case LWS_CALLBACK_RAW_RX:
        // The TLS accept left a timeout of its own running.
        lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0);
        callbacks->received(owner, in, length);
        break;
    case LWS_CALLBACK_RAW_WRITEABLE:
        callbacks->writable(owner);
        break;
    default:
        lws_set_opaque_user_data(wsi, NULL);
        callbacks->closed(owner);
        break;
    }
    return 0;
}
