// Shared by the files of CTransport only.
#ifndef HEARTH_CTRANSPORT_INTERNAL_H
#define HEARTH_CTRANSPORT_INTERNAL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // accept4
#endif

#include "CTransport.h"

#include <libwebsockets.h>
#include <openssl/types.h>
#include <sys/epoll.h>
#include <uv.h>

enum {
    /// Bytes read from a socket at once; the buffer is one per loop.
    HEARTH_READ_SIZE = 64 * 1024,
    /// Sockets of a set that are served in one tick.
    HEARTH_SOCKETS_PER_TICK = 64,
};

/// Sockets that the system watches, and those that it has reported and that are not served yet.
typedef struct {
    int epoll;
    // Whether there may be more to report.
    bool is_ready;
    struct epoll_event reported[HEARTH_SOCKETS_PER_TICK];
    int next, count;
} hearth_set;

struct hearth_socket {
    hearth_loop *loop;
    // The caller's; NULL until the accept is over.
    void *owner;
    int descriptor;
    // NULL for a plain socket.
    SSL *tls;
    // Whether bytes came through TLS.
    bool has_spoken;
    // Whether TLS has to send before it can read on.
    bool reads_when_writable;
    // Whether the caller has paused `received` calls.
    bool is_paused;
    // Whether the caller, or TLS, waits for room.
    bool wants_writable;
    // Where it is watched, and for what.
    hearth_set *set;
    uint32_t events;
};

struct hearth_loop {
    uv_loop_t uv;
    // Sockets, and those that have a TLS handshake to make before they are like others.
    hearth_set open, opening;
    // Sockets served in this tick.
    int served_count;
    uint8_t read_buffer[HEARTH_READ_SIZE];
    uv_async_t wake;
    uv_timer_t alarm;
    struct lws_context *context;
    // What libwebsockets wants its descriptors to belong to.
    struct lws_vhost *vhost;
    hearth_callbacks callbacks;
    hearth_signal *signals;
    // libwebsockets keeps pointers to these two.
    struct lws_protocols protocols[2];
    void *foreign[1];
};

/// Has libwebsockets watch the sets of sockets. False when the system or the library refuses.
bool hearth_serving_prepare(hearth_loop *loop);
/// Whether sockets that were reported wait for a tick.
bool hearth_serving_is_behind(const hearth_loop *loop);
/// Serves sockets: the share of one tick.
void hearth_serving_run(hearth_loop *loop);
/// Watches a new socket. False when the system refuses.
bool hearth_serving_add(hearth_socket *socket);
/// Watches a socket for what it waits for now.
void hearth_serving_update(hearth_socket *socket);
/// Forgets a socket.
void hearth_serving_remove(hearth_socket *socket);
/// What libwebsockets reports.
int hearth_lws_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                        size_t length);

/// Sets what a TLS server of ours demands and offers; false when OpenSSL does not know it.
bool hearth_tls_configure(SSL_CTX *identity);
/// TLS over a descriptor that was accepted; NULL without memory. The handshake is made by reading.
SSL *hearth_tls_begin(SSL_CTX *identity, int descriptor);
/// Reads once. Returns the number of bytes, 0 when there is none yet, and -1 when the connection is over.
ptrdiff_t hearth_tls_read(hearth_socket *socket, uint8_t *bytes, size_t byte_count);
/// As `hearth_socket_send`.
ptrdiff_t hearth_tls_send(hearth_socket *socket, const uint8_t *bytes, size_t byte_count);
/// Whether the handshake is not over yet.
bool hearth_tls_is_opening(const hearth_socket *socket);
/// Tells the peer that nothing more is sent.
void hearth_tls_finish(hearth_socket *socket);
/// Whether a socket of a TLS port has the first line of a plain HTTP request to read; if so, answers the peer.
bool hearth_answers_plain_http(int descriptor);
/// Watches an accepted descriptor; closes it and returns NULL when that cannot be. `identity` is NULL without TLS.
hearth_socket *hearth_socket_take(hearth_loop *loop, SSL_CTX *identity, int descriptor);

/// `what: why` into `reason`.
void hearth_set_reason(char *reason, const char *what, const char *why);
/// Certificate, chain and key of PEM files; NULL with a reason when they cannot be used together.
SSL_CTX *hearth_identity_load(const char *certificate, const char *key, char *reason);

#endif
