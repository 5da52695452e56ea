// Stream sockets: serving.c watches and reads them; sending is done here.
#include "internal.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

ptrdiff_t hearth_socket_send(hearth_socket *socket, const uint8_t *bytes, size_t byte_count, bool more_follow) {
    if (socket->tls) return hearth_tls_send(socket, bytes, byte_count);
    int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (more_follow ? MSG_MORE : 0);
    ssize_t sent;
    do {
        sent = send(socket->descriptor, bytes, byte_count, flags);
    } while (sent < 0 && errno == EINTR);
    if (sent >= 0) return sent;
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ? 0 : -1;
}

void hearth_socket_want_writable(hearth_socket *socket) {
    socket->wants_writable = true;
    hearth_serving_update(socket);
}

void hearth_socket_pause(hearth_socket *socket, bool paused) {
    socket->is_paused = paused;
    if (!paused) hearth_serving_update(socket);
}

bool hearth_socket_has_input(hearth_socket *socket) {
    uint8_t byte;
    return recv(socket->descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

void hearth_socket_finish(hearth_socket *socket) {
    if (socket->tls) hearth_tls_finish(socket);
    shutdown(socket->descriptor, SHUT_WR);
}

void hearth_socket_destroy(hearth_socket *socket) {
    // The handshake has failed on the first bytes; the rest of the line is still unread.
    if (socket->tls && !socket->has_spoken) hearth_answers_plain_http(socket->descriptor);
    SSL_free(socket->tls);
    hearth_serving_remove(socket);
    close(socket->descriptor);
    if (socket->owner) socket->loop->callbacks.closed(socket->owner);
    free(socket);
}

hearth_socket *hearth_socket_take(hearth_loop *loop, SSL_CTX *identity, int descriptor) {
    hearth_socket *taken = calloc(1, sizeof *taken);
    if (taken) {
        *taken = (hearth_socket){.loop = loop, .descriptor = descriptor};
        if (identity) taken->tls = hearth_tls_begin(identity, descriptor);
        if ((taken->tls || !identity) && hearth_serving_add(taken)) return taken;
        SSL_free(taken->tls);
        free(taken);
    }
    close(descriptor);
    return NULL;
}
