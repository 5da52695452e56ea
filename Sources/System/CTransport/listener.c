// Listening sockets, made without libwebsockets: for exact errors (which address, which errno), for the peer's
// address, and because its accept loop spins when descriptors run out.
#include "internal.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    /// Connections taken from the backlog in one tick, and those refused beside them, which cost little. While the
    /// backlog is full, the system drops new ones, whose next try comes a second later.
    ACCEPTS_PER_TICK = 64,
    REFUSALS_PER_TICK = 1024,
    /// Connections that wait to be taken; the system has its own limit (net.core.somaxconn).
    BACKLOG = 4096,
};

struct hearth_listener {
    hearth_loop *loop;
    void *owner;
    int descriptor;
    // On the heap, since libuv frees it after this structure; NULL once stopped.
    uv_poll_t *watch;
    // Certificate, chain and key for new connections; NULL without TLS.
    SSL_CTX *identity;
};

/// An IPv4 address, also when written as an IPv6 one; no other network begins with 0000:ffff.
static uint64_t network_of(const struct sockaddr_storage *address) {
    const uint8_t *bytes;
    uint64_t network = 0xffff;
    int count = 4;
    if (address->ss_family == AF_INET) {
        bytes = (const uint8_t *)&((const struct sockaddr_in *)address)->sin_addr;
    } else if (address->ss_family == AF_INET6) {
        const struct in6_addr *long_address = &((const struct sockaddr_in6 *)address)->sin6_addr;
        bytes = long_address->s6_addr;
        if (IN6_IS_ADDR_V4MAPPED(long_address)) {
            bytes += 12;
        } else {
            network = 0;
            count = 8;
        }
    } else {
        return 0;
    }
    for (int index = 0; index < count; index++) network = network << 8 | bytes[index];
    return network;
}

static void describe(const struct sockaddr_storage *address, socklen_t size, hearth_endpoint *out) {
    char service[16] = "0";
    if (getnameinfo((const struct sockaddr *)address, size, out->address, sizeof out->address,
                    service, sizeof service, NI_NUMERICHOST | NI_NUMERICSERV))
        snprintf(out->address, sizeof out->address, "unknown");
    out->port = atoi(service);
    out->network = network_of(address);
}

/// Closes a connection with a reset: nothing of it stays behind.
static void reset(int descriptor) {
    struct linger none = {.l_onoff = 1, .l_linger = 0};
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    close(descriptor);
}

static void take(hearth_listener *listener, int descriptor, const hearth_endpoint *peer) {
    int yes = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    hearth_loop *loop = listener->loop;
    if (listener->identity && hearth_answers_plain_http(descriptor)) {
        close(descriptor);
        loop->callbacks.accept_failed(listener->owner, 0);
        return;
    }
    hearth_socket *socket = hearth_socket_take(loop, listener->identity, descriptor);
    if (!socket) {
        loop->callbacks.accept_failed(listener->owner, 0);
        return;
    }
    socket->owner = loop->callbacks.accepted(listener->owner, socket, peer);
    if (!socket->owner) hearth_socket_destroy(socket);
}

static void acceptable(uv_poll_t *watch, int status, int events) {
    (void)events;
    hearth_listener *listener = watch->data;
    if (status < 0) return;
    int taken = 0, refused = 0;
    while (taken < ACCEPTS_PER_TICK && refused < REFUSALS_PER_TICK && listener->watch) {
        struct sockaddr_storage address;
        socklen_t size = sizeof address;
        int descriptor = accept4(listener->descriptor, (struct sockaddr *)&address, &size,
                                 SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (descriptor < 0) {
            if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO) {
                refused++;
                continue;
            }
            if (errno != EAGAIN && errno != EWOULDBLOCK)
                listener->loop->callbacks.accept_failed(listener->owner, errno);
            return;
        }
        hearth_endpoint peer = {.port = 0};
        describe(&address, size, &peer);
        if (!listener->loop->callbacks.admits(listener->owner, &peer)) {
            reset(descriptor);
            refused++;
            continue;
        }
        take(listener, descriptor, &peer);
        taken++;
    }
}

// Binds to the first address of `host` that works. Returns a descriptor or -1 with errno set.
static int bind_any(const char *host, int port, char *reason) {
    char service[16];
    snprintf(service, sizeof service, "%d", port);
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    int failure = getaddrinfo(host, service, &hints, &found);
    if (failure) {
        hearth_set_reason(reason, host, gai_strerror(failure));
        errno = failure == EAI_SYSTEM ? errno : 0;
        return -1;
    }
    int descriptor = -1, saved = 0;
    for (struct addrinfo *at = found; at; at = at->ai_next) {
        descriptor = socket(at->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        int yes = 1;
        if (descriptor >= 0) setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        if (descriptor >= 0 && !bind(descriptor, at->ai_addr, at->ai_addrlen) &&
            !listen(descriptor, BACKLOG))
            break;
        saved = errno;
        if (descriptor >= 0) close(descriptor);
        descriptor = -1;
    }
    freeaddrinfo(found);
    if (descriptor < 0) snprintf(reason, HEARTH_REASON_SIZE, "%s", strerror(saved));
    errno = saved;
    return descriptor;
}

static int watch_descriptor(hearth_listener *listener) {
    listener->watch = calloc(1, sizeof *listener->watch);
    if (!listener->watch) return UV_ENOMEM;
    int failure = uv_poll_init(&listener->loop->uv, listener->watch, listener->descriptor);
    if (failure) {
        free(listener->watch);
        listener->watch = NULL;
        return failure;
    }
    listener->watch->data = listener;
    return uv_poll_start(listener->watch, UV_READABLE, acceptable);
}

// Reads certificate and key for connections from now on; on failure the old ones stay.
static bool load_identity(hearth_listener *listener, const char *certificate, const char *key, char *reason) {
    SSL_CTX *identity = hearth_identity_load(certificate, key, reason);
    if (!identity) return false;
    if (!hearth_tls_configure(identity)) {
        hearth_set_reason(reason, "TLS", "OpenSSL lacks the ciphers that are offered");
        SSL_CTX_free(identity);
        return false;
    }
    // Connections that have it hold it.
    SSL_CTX_free(listener->identity);
    listener->identity = identity;
    return true;
}

hearth_listener *hearth_listen(hearth_loop *loop, const char *host, int port,
                               const char *certificate, const char *key, void *owner,
                               hearth_endpoint *bound, int *error_number,
                               char reason[HEARTH_REASON_SIZE]) {
    *error_number = 0;
    hearth_listener *listener = calloc(1, sizeof *listener);
    if (!listener) {
        *error_number = ENOMEM;
        snprintf(reason, HEARTH_REASON_SIZE, "%s", strerror(ENOMEM));
        return NULL;
    }
    listener->loop = loop;
    listener->owner = owner;
    listener->descriptor = -1;
    if (certificate && !load_identity(listener, certificate, key, reason)) {
        *error_number = -1;
        hearth_listener_free(listener);
        return NULL;
    }
    listener->descriptor = bind_any(host, port, reason);
    if (listener->descriptor < 0) {
        *error_number = errno;
        hearth_listener_free(listener);
        return NULL;
    }
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    if (!getsockname(listener->descriptor, (struct sockaddr *)&address, &size))
        describe(&address, size, bound);
    int failure = watch_descriptor(listener);
    if (failure) {
        *error_number = -failure;
        snprintf(reason, HEARTH_REASON_SIZE, "%s", uv_strerror(failure));
        hearth_listener_free(listener);
        return NULL;
    }
    return listener;
}

static void free_watch(uv_handle_t *handle) { free(handle); }

void hearth_listener_stop(hearth_listener *listener) {
    if (listener->watch) {
        uv_poll_stop(listener->watch);
        uv_close((uv_handle_t *)listener->watch, free_watch);
        listener->watch = NULL;
    }
    if (listener->descriptor >= 0) close(listener->descriptor);
    listener->descriptor = -1;
}

void hearth_listener_pause(hearth_listener *listener, bool paused) {
    if (!listener->watch) return;
    if (paused)
        uv_poll_stop(listener->watch);
    else
        uv_poll_start(listener->watch, UV_READABLE, acceptable);
}

bool hearth_listener_reload(hearth_listener *listener, const char *certificate, const char *key,
                            char reason[HEARTH_REASON_SIZE]) {
    return load_identity(listener, certificate, key, reason);
}

void hearth_listener_free(hearth_listener *listener) {
    hearth_listener_stop(listener);
    SSL_CTX_free(listener->identity);
    free(listener);
}
