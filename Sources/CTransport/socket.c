// Stream sockets: libwebsockets watches them all; those with TLS it accepts and reads too (role
// "raw-skt"), plain ones are read by serving.c (role "raw-file"). Sending is done here.
//
// lws_write is not used: what a full socket does not take it copies to a list of its own, and while
// that list is not empty it neither reads the socket nor stops watching it, so that a peer who
// sends without reading makes the loop spin.
#include "internal.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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
    if (socket->is_tls) return send_tls(lws_get_ssl(socket->wsi), bytes, byte_count);
    ssize_t sent;
    do {
        sent = send(lws_get_socket_fd(socket->wsi), bytes, byte_count, MSG_NOSIGNAL | MSG_DONTWAIT);
    } while (sent < 0 && errno == EINTR);
    if (sent >= 0) return sent;
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ? 0 : -1;
}

void hearth_socket_want_writable(hearth_socket *socket) { lws_callback_on_writable(socket->wsi); }

void hearth_socket_pause(hearth_socket *socket, bool paused) {
    socket->is_paused = paused;
    // One that waits for its turn is watched again when it has had it.
    if (!socket->queue) lws_rx_flow_control(socket->wsi, paused ? 0 : 1);
}

void hearth_socket_finish(hearth_socket *socket) {
    if (socket->is_tls) {
        ERR_clear_error();
        SSL_shutdown(lws_get_ssl(socket->wsi));
        ERR_clear_error();
    }
    shutdown(lws_get_socket_fd(socket->wsi), SHUT_WR);
}

void hearth_socket_destroy(hearth_socket *socket) {
    // Calls back with the role's CLOSE, which frees `socket`.
    lws_set_timeout(socket->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_SYNC);
}

hearth_socket *hearth_socket_take(hearth_loop *loop, struct lws_vhost *tls_vhost, int descriptor) {
    hearth_socket *taken = calloc(1, sizeof *taken);
    if (!taken) {
        close(descriptor);
        return NULL;
    }
    lws_adopt_desc_t info = {
        .vh = tls_vhost ? tls_vhost : loop->plain,
        .type = tls_vhost ? LWS_ADOPT_SOCKET | LWS_ADOPT_ALLOW_SSL : LWS_ADOPT_RAW_FILE_DESC,
        .vh_prot_name = "hearth",
    };
    if (tls_vhost)
        info.fd.sockfd = descriptor;
    else
        info.fd.filefd = descriptor;
    // Closes the descriptor when it fails.
    struct lws *wsi = lws_adopt_descriptor_vhost_via_info(&info);
    if (!wsi) {
        free(taken);
        return NULL;
    }
    *taken = (hearth_socket){.loop = loop, .wsi = wsi, .is_tls = tls_vhost != NULL};
    if (taken->is_tls) loop->tls_socket_count++;
    lws_set_opaque_user_data(wsi, taken);
    return taken;
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
    // What stays unread would make a reset of the close, which takes the answer along.
    for (int reads = 0; reads < 16; reads++)
        if (recv(descriptor, start, sizeof start, MSG_DONTWAIT) < (ssize_t)sizeof start) break;
    if (send(descriptor, answer, sizeof answer - 1, MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
        shutdown(descriptor, SHUT_WR);
    return true;
}

static void closed(hearth_socket *socket) {
    // The handshake has failed on the first bytes; the rest of the line is still to be read.
    if (socket->is_tls && !socket->has_spoken)
        hearth_answers_plain_http(lws_get_socket_fd(socket->wsi));
    lws_set_opaque_user_data(socket->wsi, NULL);
    hearth_serving_remove(socket);
    if (socket->is_tls) socket->loop->tls_socket_count--;
    if (socket->owner) socket->loop->callbacks.closed(socket->owner);
    free(socket);
}

int hearth_lws_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                        size_t length) {
    if (reason == LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS) {
        hearth_loop *loop = lws_context_user(lws_get_context(wsi));
        return loop->configuring ? hearth_listener_configure_tls(loop->configuring, user) : 0;
    }
    hearth_socket *socket = NULL;
    switch (reason) {
    case LWS_CALLBACK_RAW_RX:
    case LWS_CALLBACK_RAW_RX_FILE:
    case LWS_CALLBACK_RAW_WRITEABLE:
    case LWS_CALLBACK_RAW_WRITEABLE_FILE:
    case LWS_CALLBACK_RAW_CLOSE:
    case LWS_CALLBACK_RAW_CLOSE_FILE:
        socket = lws_get_opaque_user_data(wsi);
        break;
    default: break;
    }
    if (!socket) return 0;
    switch (reason) {
    case LWS_CALLBACK_RAW_RX:
        // The TLS accept left a timeout of its own running.
        lws_set_timeout(wsi, NO_PENDING_TIMEOUT, 0);
        socket->has_spoken = true;
        if (socket->owner) socket->loop->callbacks.received(socket->owner, in, length);
        break;
    case LWS_CALLBACK_RAW_RX_FILE:
        hearth_serving_readable(socket);
        break;
    case LWS_CALLBACK_RAW_WRITEABLE:
    case LWS_CALLBACK_RAW_WRITEABLE_FILE:
        if (socket->owner) socket->loop->callbacks.writable(socket->owner);
        break;
    default: closed(socket); break;
    }
    return 0;
}
