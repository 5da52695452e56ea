// The loop: one libwebsockets context with its built-in poll loop, since a client has few sockets.
#ifdef __linux__
// For the names of threads.
#define _GNU_SOURCE
#include "internal.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    // Sockets of one loop, and a few descriptors of its own. Otherwise libwebsockets makes tables for the descriptor
    // limit of the process, which can be a million.
    DESCRIPTOR_LIMIT = 1024,
    READ_SIZE = 64 * 1024,
    ANSWER_HEADER_SIZE = 16 * 1024,
    RECEIVE_SIZE = 16 * 1024,
    // The most that libwebsockets writes at once here.
    SEND_SIZE = 256 * 1024,
    // Our own deadlines end sooner; this one bounds those that we might forget.
    TIMEOUT_SECONDS = 120,
};

// Pings detect a server that disappeared: one after this silence, and the end after this longer one.
static const lws_retry_bo_t silence = {.secs_since_valid_ping = 60, .secs_since_valid_hangup = 90};

// libwebsockets' log belongs to the process. Its lines about these sockets become their reasons; others go where they
// went.
static _Thread_local bool is_quiet;

static void emit(int level, const char *line) {
    if (!is_quiet) lwsl_emit_stderr(level, line);
}

// Creating a context changes the process, so only one thread at a time does it. libwebsockets ignores SIGPIPE; the
// old action is restored. And it reserves a new index for its data in every TLS connection of the process; existing
// connections do not have it and fail, so only the first context may reserve it.
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;
static bool has_started;

static struct lws_context *create_context(hearth_client_loop *loop) {
    struct lws_context_creation_info info;
    memset(&info, 0, sizeof info);
    info.port = CONTEXT_PORT_NO_LISTEN;
    info.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS;
    info.fd_limit_per_thread = DESCRIPTOR_LIMIT;
    info.pt_serv_buf_size = READ_SIZE;
    info.max_http_header_data2 = ANSWER_HEADER_SIZE;
    info.timeout_secs = TIMEOUT_SECONDS;
    info.connect_timeout_secs = TIMEOUT_SECONDS;
    info.retry_and_idle_policy = &silence;
    info.gid = -1;
    info.uid = -1;
    info.user = loop;
    pthread_mutex_lock(&starting);
    if (!has_started) info.options |= LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT;
    struct sigaction before;
    bool is_known = sigaction(SIGPIPE, NULL, &before) == 0;
    struct lws_context *context = lws_create_context(&info);
    if (is_known) sigaction(SIGPIPE, &before, NULL);
    if (context) has_started = true;
    pthread_mutex_unlock(&starting);
    return context;
}

struct lws_vhost *hearth_client_create_vhost(hearth_client_loop *loop, SSL_CTX *tls) {
    struct lws_context_creation_info info;
    memset(&info, 0, sizeof info);
    info.port = CONTEXT_PORT_NO_LISTEN;
    // Without this option libwebsockets makes no TLS context for plain sockets, which took 25 ms and a megabyte.
    info.options = tls ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0;
    info.protocols = loop->protocols;
    info.vhost_name = tls ? "tls" : "plain";
    info.provided_client_ssl_ctx = tls;
    info.timeout_secs = TIMEOUT_SECONDS;
    info.connect_timeout_secs = TIMEOUT_SECONDS;
    info.retry_and_idle_policy = &silence;
    // Not NULL, or libwebsockets would use the proxy of `http_proxy`.
    info.http_proxy_address = "";
    info.gid = -1;
    info.uid = -1;
    info.user = loop;
    return lws_create_vhost(loop->context, &info);
}

hearth_client_loop *hearth_client_loop_create(const hearth_client_callbacks *callbacks,
                                              char reason[HEARTH_CLIENT_REASON_SIZE]) {
    // If the app exits while this thread is in a handshake, OpenSSL must not be freed.
    OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
    is_quiet = true;
    lws_set_log_level(LLL_ERR | LLL_WARN, emit);
    hearth_client_loop *loop = calloc(1, sizeof *loop);
    if (!loop) {
        snprintf(reason, HEARTH_CLIENT_REASON_SIZE, "out of memory");
        return NULL;
    }
    loop->callbacks = *callbacks;
    loop->protocols[0].name = "hearth";
    loop->protocols[0].callback = hearth_client_lws_callback;
    loop->protocols[0].rx_buffer_size = RECEIVE_SIZE;
    loop->protocols[0].tx_packet_size = SEND_SIZE;
    loop->context = create_context(loop);
    if (loop->context) {
        loop->plain = hearth_client_create_vhost(loop, NULL);
        if (loop->plain) return loop;
    }
    snprintf(reason, HEARTH_CLIENT_REASON_SIZE, "libwebsockets could not start");
    hearth_client_loop_destroy(loop);
    return NULL;
}

bool hearth_client_loop_tick(hearth_client_loop *loop) {
    bool works = lws_service(loop->context, 0) >= 0;
    hearth_client_reap(loop);
    return works;
}

void hearth_client_loop_wake(hearth_client_loop *loop) { lws_cancel_service(loop->context); }

void hearth_client_loop_destroy(hearth_client_loop *loop) {
    loop->is_going = true;
    if (loop->context) lws_context_destroy(loop->context);
    hearth_client_reap(loop);
    hearth_client_free_trusts(loop);
    free(loop->scratch);
    free(loop);
}

int hearth_client_addresses(const char *name, char *addresses, int room,
                            char reason[HEARTH_CLIENT_REASON_SIZE]) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int failure = getaddrinfo(name, NULL, &hints, &found);
    if (failure) {
        snprintf(reason, HEARTH_CLIENT_REASON_SIZE, "the host %.128s is not found: %s", name, gai_strerror(failure));
        return 0;
    }
    int count = 0;
    for (struct addrinfo *at = found; at && count < room; at = at->ai_next)
        if (!getnameinfo(at->ai_addr, at->ai_addrlen, addresses + count * HEARTH_CLIENT_ADDRESS_SIZE,
                         HEARTH_CLIENT_ADDRESS_SIZE, NULL, 0, NI_NUMERICHOST))
            count++;
    freeaddrinfo(found);
    if (!count) snprintf(reason, HEARTH_CLIENT_REASON_SIZE, "the host %.128s has no address", name);
    return count;
}

void hearth_client_begin_thread(void) {
    pthread_setname_np(pthread_self(), "hearth-sockets");
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
}
#endif
