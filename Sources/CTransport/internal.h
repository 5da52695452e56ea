// Shared by the files of CTransport only.
#ifndef HEARTH_CTRANSPORT_INTERNAL_H
#define HEARTH_CTRANSPORT_INTERNAL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // accept4
#endif

#include "CTransport.h"

#include <libwebsockets.h>
#include <uv.h>

enum {
    /// Bytes read from a socket at once; the buffer is one per loop.
    HEARTH_READ_SIZE = 64 * 1024,
    /// Plain sockets read from in one turn, and sockets closed of those whose peers have left.
    HEARTH_SOCKETS_PER_TURN = 64,
};

/// Sockets that wait for a turn, oldest first.
typedef struct {
    hearth_socket *first, *last;
} hearth_queue;

struct hearth_socket {
    hearth_loop *loop;
    // The caller's; NULL until the accept is over and once `closed` was called.
    void *owner;
    // Owned by libwebsockets, which says when it is gone.
    struct lws *wsi;
    bool is_tls;
    // Whether bytes came through TLS.
    bool has_spoken;
    // Whether the caller wants no `received` calls.
    bool is_paused;
    // Where it waits; NULL when it does not.
    hearth_queue *queue;
    hearth_socket *previous, *next;
};

struct hearth_loop {
    uv_loop_t uv;
    // Plain sockets that have something to read and are not watched until it is read.
    hearth_queue readable;
    // Plain sockets whose peers have left.
    hearth_queue over;
    // Sockets read from in this turn, and when no further one is.
    int served_count;
    uint64_t serving_end;
    uint8_t read_buffer[HEARTH_READ_SIZE];
    int tls_socket_count;
    uv_async_t wake;
    uv_timer_t alarm;
    struct lws_context *context;
    // The virtual host of plain sockets.
    struct lws_vhost *plain;
    hearth_callbacks callbacks;
    hearth_signal *signals;
    // libwebsockets keeps pointers to these two.
    struct lws_protocols protocols[2];
    void *foreign[1];
    // The listener whose TLS virtual host is being made, while hearth_create_vhost runs.
    hearth_listener *configuring;
};

/// Whether sockets wait for a turn.
bool hearth_serving_is_behind(const hearth_loop *loop);
/// Begins a turn: serves those that have waited.
void hearth_serving_begin(hearth_loop *loop);
/// A plain socket has something to read, or its peer has left.
void hearth_serving_readable(hearth_socket *socket);
/// Forgets a socket that is closed.
void hearth_serving_remove(hearth_socket *socket);

/// Whether a socket of a TLS port has the first line of a plain HTTP request to be read; then its peer is told so.
bool hearth_answers_plain_http(int descriptor);
/// Hands an accepted descriptor to libwebsockets; closes it and returns NULL when that is refused.
hearth_socket *hearth_socket_take(hearth_loop *loop, struct lws_vhost *tls_vhost, int descriptor);

int hearth_lws_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                        size_t length);
/// `what: why` into `reason`.
void hearth_set_reason(char *reason, const char *what, const char *why);
/// Certificate, chain and key of PEM files; NULL with a reason when they cannot be used together.
struct ssl_ctx_st *hearth_identity_load(const char *certificate, const char *key, char *reason);

struct lws_vhost *hearth_create_vhost(hearth_loop *loop, bool tls);
/// Called back by libwebsockets with the SSL_CTX of a new TLS virtual host.
int hearth_listener_configure_tls(hearth_listener *listener, void *ssl_context);

#endif
