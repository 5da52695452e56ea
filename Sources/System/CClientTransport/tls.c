// The check of a server's certificate. The OpenSSL context is made here, not by libwebsockets: that reads a colon in
// an IPv6 address as the start of a port, and gives little but a number as the reason of a refusal.
#ifdef __linux__
#include "internal.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hearth_client_socket *socket_of(hearth_client_loop *loop, const SSL *ssl) {
    for (hearth_client_socket *at = loop->sockets; at; at = at->next)
        if (at->wsi && at->is_secure && lws_get_ssl(at->wsi) == ssl) return at;
    return NULL;
}

static bool is_address(const char *name) {
    struct in6_addr room;
    return inet_pton(AF_INET, name, &room) == 1 || inet_pton(AF_INET6, name, &room) == 1;
}

// Runs instead of OpenSSL's check, and calls it, with the name that the certificate must have. Without a socket or a
// name it refuses.
static int check_certificate(X509_STORE_CTX *store, void *argument) {
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    hearth_client_socket *socket = ssl ? socket_of(argument, ssl) : NULL;
    X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED);
    if (!socket || !socket->name[0]) return 0;
    X509_VERIFY_PARAM *parameters = X509_STORE_CTX_get0_param(store);
    X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    int is_named = is_address(socket->name) ? X509_VERIFY_PARAM_set1_ip_asc(parameters, socket->name)
                                            : X509_VERIFY_PARAM_set1_host(parameters, socket->name, 0);
    if (is_named != 1) return 0;
    X509_STORE_CTX_set_error(store, X509_V_OK);
    int is_good = X509_verify_cert(store);
    if (is_good == 1) return 1;
    int error = X509_STORE_CTX_get_error(store);
    if (error == X509_V_ERR_HOSTNAME_MISMATCH || error == X509_V_ERR_IP_ADDRESS_MISMATCH)
        hearth_client_set_reason(socket, "the certificate of the server is not for %s", socket->name);
    else
        hearth_client_set_reason(socket, "the certificate of %s is not trusted: %s", socket->name,
                                 X509_verify_cert_error_string(error));
    return 0;
}

// Runs as a handshake begins. Sends the server's name only if it is not an address: addresses are not allowed there,
// and libwebsockets would send half an IPv6 address.
static void handshake_step(const SSL *ssl, int step, int result) {
    (void)result;
    if (!(step & SSL_CB_HANDSHAKE_START)) return;
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (name && (is_address(name) || name[0] == '[')) SSL_set_tlsext_host_name((SSL *)ssl, NULL);
}

static SSL_CTX *create_tls(hearth_client_loop *loop, const char *authorities, char *reason) {
    ERR_clear_error();
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (!context) {
        snprintf(reason, HEARTH_CLIENT_REASON_SIZE, "OpenSSL could not start");
        return NULL;
    }
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_mode(context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(context, check_certificate, loop);
    SSL_CTX_set_info_callback(context, handshake_step);
    int is_loaded = authorities ? SSL_CTX_load_verify_file(context, authorities)
                                : SSL_CTX_set_default_verify_paths(context);
    if (is_loaded == 1) return context;
    unsigned long error = ERR_peek_error();
    const char *why = ERR_reason_error_string(error);
    if (!why && ERR_SYSTEM_ERROR(error)) why = strerror(ERR_GET_REASON(error));
    snprintf(reason, HEARTH_CLIENT_REASON_SIZE, "the authorities of %.256s cannot be read: %s",
             authorities ? authorities : "the system", why ? why : "there are none");
    ERR_clear_error();
    SSL_CTX_free(context);
    return NULL;
}

struct lws_vhost *hearth_client_trust_vhost(hearth_client_loop *loop, const char *authorities,
                                            char reason[HEARTH_CLIENT_REASON_SIZE]) {
    for (hearth_client_trust *at = loop->trusts; at; at = at->next)
        if (authorities && at->authorities ? !strcmp(authorities, at->authorities) : authorities == at->authorities)
            return at->vhost;
    hearth_client_trust *trust = calloc(1, sizeof *trust);
    if (trust && authorities) trust->authorities = strdup(authorities);
    if (!trust || (authorities && !trust->authorities)) {
        snprintf(reason, HEARTH_CLIENT_REASON_SIZE, "out of memory");
        free(trust);
        return NULL;
    }
    trust->context = create_tls(loop, authorities, reason);
    if (trust->context) {
        trust->vhost = hearth_client_create_vhost(loop, trust->context);
        if (trust->vhost) {
            trust->next = loop->trusts;
            loop->trusts = trust;
            return trust->vhost;
        }
        snprintf(reason, HEARTH_CLIENT_REASON_SIZE, "libwebsockets could not start TLS");
        SSL_CTX_free(trust->context);
    }
    free(trust->authorities);
    free(trust);
    return NULL;
}

void hearth_client_free_trusts(hearth_client_loop *loop) {
    while (loop->trusts) {
        hearth_client_trust *trust = loop->trusts;
        loop->trusts = trust->next;
        SSL_CTX_free(trust->context);
        free(trust->authorities);
        free(trust);
    }
}
#endif
