// Shared by the files of this target.
#ifndef HEARTH_CCLIENTTRANSPORT_INTERNAL_H
#define HEARTH_CCLIENTTRANSPORT_INTERNAL_H

#include "CClientTransport.h"

#include <libwebsockets.h>
#include <openssl/ssl.h>

// Sockets that check certificates against the same authorities.
typedef struct hearth_client_trust {
    struct hearth_client_trust *next;
    // NULL: those of the system.
    char *authorities;
    // Owned here: libwebsockets uses it and does not free it.
    SSL_CTX *context;
    struct lws_vhost *vhost;
} hearth_client_trust;

struct hearth_client_loop {
    hearth_client_callbacks callbacks;
    struct lws_context *context;
    struct lws_protocols protocols[2];
    struct lws_vhost *plain;
    // The context is being freed.
    bool is_going;
    hearth_client_trust *trusts;
    // Open sockets, then those whose `closed` call is due at the end of the tick.
    hearth_client_socket *sockets;
    // Room for the longest frame so far, with LWS_PRE before it.
    unsigned char *scratch;
    size_t scratch_size;
};

struct hearth_client_socket {
    // First, so that a timer leads back to its socket.
    lws_sorted_usec_list_t deadline;
    hearth_client_loop *loop;
    hearth_client_socket *next;
    void *owner;
    // NULL once libwebsockets has closed it.
    struct lws *wsi;
    char *name;
    char *headers;
    // Address and port, for the reason.
    char place[HEARTH_CLIENT_ADDRESS_SIZE + 16];
    char reason[HEARTH_CLIENT_REASON_SIZE];
    int64_t milliseconds;
    // The close code after the server broke a rule; else 0.
    uint16_t close_code;
    bool is_secure;
    bool is_connected;
    bool is_open;
    bool is_over;
};

int hearth_client_lws_callback(struct lws *wsi, enum lws_callback_reasons event, void *user, void *in, size_t length);
// Calls `closed` for the sockets that have ended, and frees them.
void hearth_client_reap(hearth_client_loop *loop);
// Writes the reason unless there is one: the first is the cause, later ones are its consequences.
void hearth_client_set_reason(hearth_client_socket *socket, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct lws_vhost *hearth_client_create_vhost(hearth_client_loop *loop, SSL_CTX *tls);
// The virtual host of these authorities, made on first use. NULL with the reason when they cannot be read.
struct lws_vhost *hearth_client_trust_vhost(hearth_client_loop *loop, const char *authorities,
                                            char reason[HEARTH_CLIENT_REASON_SIZE]);
void hearth_client_free_trusts(hearth_client_loop *loop);

#endif
