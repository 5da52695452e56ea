// Shared by the files of CTransport only.
#ifndef HEARTH_CTRANSPORT_INTERNAL_H
#define HEARTH_CTRANSPORT_INTERNAL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // accept4
#endif

#include "CTransport.h"

#include <libwebsockets.h>
#include <uv.h>

/// Bytes read from a socket at once; the buffer is one per loop.
enum { HEARTH_READ_SIZE = 64 * 1024 };

struct hearth_loop {
    uv_loop_t uv;
    uv_async_t wake;
    uv_timer_t alarm;
    struct lws_context *context;
    struct lws_vhost *plain;
    hearth_callbacks callbacks;
    hearth_signal *signals;
    // libwebsockets keeps pointers to these two.
    struct lws_protocols protocols[2];
    void *foreign[1];
    // The listener whose TLS virtual host is being made, while hearth_create_vhost runs.
    hearth_listener *configuring;
};

int hearth_lws_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                        size_t length);
struct lws_vhost *hearth_create_vhost(hearth_loop *loop, bool tls);
/// Called back by libwebsockets with the SSL_CTX of a new TLS virtual host.
int hearth_listener_configure_tls(hearth_listener *listener, void *ssl_context);

#endif
