// One WebSocket: from the request to open it to its one `closed` call, which comes at the end of a tick.
#ifdef __linux__
#include "internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    // A longer scratch buffer is not kept for the next frame.
    KEPT_SCRATCH_SIZE = 256 * 1024,
    // For the close frame of a socket whose server breaks the rules.
    CLOSING_MILLISECONDS = 5000,
};

void hearth_client_set_reason(hearth_client_socket *socket, const char *format, ...) {
    if (socket->reason[0]) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(socket->reason, sizeof socket->reason, format, arguments);
    va_end(arguments);
}

static void free_socket(hearth_client_socket *socket) {
    free(socket->name);
    free(socket->headers);
    free(socket);
}

// The message of libwebsockets for a failed connection, completed where it says too little.
static void explain(hearth_client_socket *socket, struct lws *wsi, const char *text, size_t length) {
    unsigned status = socket->is_connected ? lws_http_client_http_response(wsi) : 0;
    if (status && status != 101)
        hearth_client_set_reason(socket, "the server at %s answered %u to the WebSocket handshake",
                                 socket->place, status);
    else if (!socket->is_connected)
        hearth_client_set_reason(socket, "no connection to %s: it is refused, or the network does not reach it",
                                 socket->place);
    else if (text && length > 4 && !strncmp(text, "HS: ", 4))
        hearth_client_set_reason(socket, "the server's answer to the WebSocket handshake is not right (%.*s)",
                                 (int)strnlen(text + 4, length - 4), text + 4);
    else if (text && (!strncmp(text, "read failed", length) || !strncmp(text, "Peer hung up", length)))
        hearth_client_set_reason(socket, "the server at %s ended the connection before the WebSocket was open",
                                 socket->place);
    else if (text && length)
        hearth_client_set_reason(socket, "the %s handshake with %s failed (%.*s)",
                                 socket->is_secure ? "TLS or WebSocket" : "WebSocket", socket->place,
                                 (int)strnlen(text, length), text);
}

// libwebsockets makes no more calls for this socket.
static void end(hearth_client_socket *socket, struct lws *wsi) {
    lws_sul_cancel(&socket->deadline);
    if (wsi) lws_set_wsi_user(wsi, NULL);
    socket->wsi = NULL;
    socket->is_over = true;
    // A timer runs before the wait of its tick; the owner is notified at the end of the tick.
    if (!socket->loop->is_going) lws_cancel_service(socket->loop->context);
}

static void note_close(hearth_client_socket *socket, const unsigned char *body, size_t length) {
    if (length < 2)
        hearth_client_set_reason(socket, "the server closed the WebSocket");
    else
        hearth_client_set_reason(socket, "the server closed the WebSocket with code %d%s%.*s", body[0] << 8 | body[1],
                                 length > 2 ? ": " : "", (int)length - 2, body + 2);
}

// `writable` closes the socket. After an error from here, libwebsockets 4.1 would still read the server's data until
// it has answered the close frame, and write it behind the end of its buffer.
static void receive(hearth_client_socket *socket, struct lws *wsi, const void *bytes, size_t length) {
    if (socket->close_code) return;
    lws_validity_confirmed(wsi);
    if (lws_frame_is_binary(wsi)) {
        hearth_client_set_reason(socket, "the server sent a binary frame");
        socket->close_code = LWS_CLOSE_STATUS_UNACCEPTABLE_OPCODE;
    } else {
        bool is_end = lws_is_final_fragment(wsi) && lws_remaining_packet_payload(wsi) == 0;
        socket->close_code = socket->loop->callbacks.received(socket->owner, bytes, length, is_end);
    }
    if (socket->close_code) hearth_client_socket_close_within(socket, CLOSING_MILLISECONDS);
}

static int write_waiting(hearth_client_socket *socket, struct lws *wsi) {
    // libwebsockets first sends the rest of a partial write, and would drop a close frame behind it.
    if (lws_partial_buffered(wsi)) {
        lws_callback_on_writable(wsi);
        return 0;
    }
    if (socket->close_code) {
        lws_close_reason(wsi, socket->close_code, NULL, 0);
        return -1;
    }
    switch (socket->loop->callbacks.writable(socket->owner)) {
    case HEARTH_CLIENT_IDLE:
        return 0;
    case HEARTH_CLIENT_AGAIN:
        lws_callback_on_writable(wsi);
        return 0;
    case HEARTH_CLIENT_CLOSE:
        if (lws_partial_buffered(wsi)) {
            lws_callback_on_writable(wsi);
            return 0;
        }
        hearth_client_set_reason(socket, "closed by the client");
        lws_close_reason(wsi, LWS_CLOSE_STATUS_NORMAL, NULL, 0);
        return -1;
    }
    return -1;
}

static int add_headers(hearth_client_socket *socket, char **at, size_t room) {
    size_t length = strlen(socket->headers);
    if (length > room) {
        hearth_client_set_reason(socket, "the header lines are too long");
        return -1;
    }
    memcpy(*at, socket->headers, length);
    *at += length;
    return 0;
}

int hearth_client_lws_callback(struct lws *wsi, enum lws_callback_reasons event, void *user, void *in, size_t length) {
    // For OpenSSL's events `user` is another type; ours reach tls.c another way.
    if (event == LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION) return 0;
    hearth_client_socket *socket = user;
    switch (event) {
    case LWS_CALLBACK_WSI_CREATE:
        if (!socket) break;
        socket->wsi = wsi;
        socket->is_connected = true;
        break;
    case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER:
        return socket ? add_headers(socket, in, length) : -1;
    case LWS_CALLBACK_CLIENT_ESTABLISHED:
        if (!socket) return -1;
        lws_sul_cancel(&socket->deadline);
        socket->is_open = true;
        socket->loop->callbacks.opened(socket->owner);
        lws_callback_on_writable(wsi);
        break;
    case LWS_CALLBACK_CLIENT_RECEIVE:
        if (socket) receive(socket, wsi, in, length);
        break;
    case LWS_CALLBACK_CLIENT_RECEIVE_PONG:
        break;
    case LWS_CALLBACK_CLIENT_WRITEABLE:
        return socket ? write_waiting(socket, wsi) : -1;
    case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
        if (socket) note_close(socket, in, length);
        break;
    case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
        if (!socket) break;
        explain(socket, wsi, in, length);
        end(socket, wsi);
        break;
    case LWS_CALLBACK_CLIENT_CLOSED:
    case LWS_CALLBACK_CLOSED_CLIENT_HTTP:
    case LWS_CALLBACK_WSI_DESTROY:
        if (socket) end(socket, wsi);
        break;
    default:
        break;
    }
    return 0;
}

// The timer type that libwebsockets has for any structure.
static void expired(lws_sorted_usec_list_t *timer) {
    hearth_client_socket *socket = (hearth_client_socket *)timer;
    char reason[HEARTH_CLIENT_REASON_SIZE];
    double seconds = (double)socket->milliseconds / 1000;
    if (socket->is_open)
        snprintf(reason, sizeof reason, "closed by the client");
    else if (socket->is_connected)
        snprintf(reason, sizeof reason, "the handshake with %s was not done within %.3g s", socket->place, seconds);
    else
        snprintf(reason, sizeof reason, "no connection to %s within %.3g s", socket->place, seconds);
    hearth_client_socket_abort(socket, reason);
}

// Why a connection failed so fast that libwebsockets gives no reason.
static void explain_number(hearth_client_socket *socket, int number) {
    switch (number) {
    case ECONNREFUSED:
    case ECONNRESET:
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN:
    case ETIMEDOUT:
    case EACCES:
    case EPERM:
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
        hearth_client_set_reason(socket, "no connection to %s: %s", socket->place, strerror(number));
        break;
    default:
        hearth_client_set_reason(socket, "no connection to %s", socket->place);
    }
}

static hearth_client_socket *create_socket(hearth_client_loop *loop, void *owner, const hearth_client_request *request) {
    hearth_client_socket *socket = calloc(1, sizeof *socket);
    if (!socket) return NULL;
    socket->name = strdup(request->name);
    socket->headers = strdup(request->headers);
    if (!socket->name || !socket->headers) {
        free_socket(socket);
        return NULL;
    }
    socket->loop = loop;
    socket->owner = owner;
    socket->is_secure = request->is_secure;
    socket->milliseconds = request->milliseconds;
    snprintf(socket->place, sizeof socket->place, strchr(request->address, ':') ? "[%s]:%d" : "%s:%d",
             request->address, request->port);
    return socket;
}

hearth_client_socket *hearth_client_socket_open(hearth_client_loop *loop, void *owner,
                                                const hearth_client_request *request,
                                                char reason[HEARTH_CLIENT_REASON_SIZE]) {
    struct lws_vhost *vhost =
        request->is_secure ? hearth_client_trust_vhost(loop, request->authorities, reason) : loop->plain;
    if (!vhost) return NULL;
    hearth_client_socket *socket = create_socket(loop, owner, request);
    if (!socket) {
        snprintf(reason, HEARTH_CLIENT_REASON_SIZE, "out of memory");
        return NULL;
    }
    socket->next = loop->sockets;
    loop->sockets = socket;
    struct lws_client_connect_info info;
    memset(&info, 0, sizeof info);
    info.context = loop->context;
    info.vhost = vhost;
    info.address = request->address;
    info.port = request->port;
    info.host = request->host;
    info.path = request->target;
    info.alpn = "http/1.1";
    info.ietf_version_or_minus_one = -1;
    info.local_protocol_name = "hearth";
    info.userdata = socket;
    info.ssl_connection = LCCSCF_HTTP_NO_FOLLOW_REDIRECT;
    // The name is checked in tls.c.
    if (request->is_secure) info.ssl_connection |= LCCSCF_USE_SSL | LCCSCF_SKIP_SERVER_CERT_HOSTNAME_CHECK;
    errno = 0;
    struct lws *wsi = lws_client_connect_via_info(&info);
    int number = errno;
    if (!wsi) {
        explain_number(socket, number);
        end(socket, NULL);
    } else if (!socket->is_over) {
        socket->wsi = wsi;
        lws_sul_schedule(loop->context, 0, &socket->deadline, expired, request->milliseconds * LWS_US_PER_MS);
    }
    return socket;
}

int hearth_client_socket_send(hearth_client_socket *socket, const uint8_t *bytes, size_t byte_count) {
    hearth_client_loop *loop = socket->loop;
    if (!socket->wsi) return -1;
    if (loop->scratch_size < LWS_PRE + byte_count) {
        unsigned char *larger = realloc(loop->scratch, LWS_PRE + byte_count);
        if (!larger) return -1;
        loop->scratch = larger;
        loop->scratch_size = LWS_PRE + byte_count;
    }
    // libwebsockets masks in place and keeps a copy of what the socket does not take.
    if (byte_count) memcpy(loop->scratch + LWS_PRE, bytes, byte_count);
    int written = lws_write(socket->wsi, loop->scratch + LWS_PRE, byte_count, LWS_WRITE_TEXT);
    if (loop->scratch_size > KEPT_SCRATCH_SIZE) {
        free(loop->scratch);
        loop->scratch = NULL;
        loop->scratch_size = 0;
    }
    if (written < 0 || (size_t)written < byte_count) return -1;
    return !lws_partial_buffered(socket->wsi);
}

void hearth_client_socket_want_writable(hearth_client_socket *socket) {
    if (socket->wsi && socket->is_open) lws_callback_on_writable(socket->wsi);
}

void hearth_client_socket_close_within(hearth_client_socket *socket, int64_t milliseconds) {
    if (!socket->wsi || !socket->is_open) return;
    lws_callback_on_writable(socket->wsi);
    lws_sul_schedule(socket->loop->context, 0, &socket->deadline, expired, milliseconds * LWS_US_PER_MS);
}

void hearth_client_socket_abort(hearth_client_socket *socket, const char *reason) {
    if (!socket->wsi) return;
    hearth_client_set_reason(socket, "%s", reason);
    lws_set_timeout(socket->wsi, PENDING_TIMEOUT_USER_OK, LWS_TO_KILL_ASYNC);
}

void hearth_client_reap(hearth_client_loop *loop) {
    hearth_client_socket **link = &loop->sockets, *over = NULL;
    while (*link) {
        hearth_client_socket *socket = *link;
        if (!socket->is_over) {
            link = &socket->next;
            continue;
        }
        *link = socket->next;
        socket->next = over;
        over = socket;
    }
    while (over) {
        hearth_client_socket *socket = over;
        over = socket->next;
        hearth_client_set_reason(socket, socket->is_open ? "the connection to %s is lost"
                                                         : "the server at %s ended the connection before the WebSocket was open",
                                 socket->place);
        loop->callbacks.closed(socket->owner, socket->is_connected, socket->reason);
        free_socket(socket);
    }
}
#endif
