// The C half of ClientTransport: WebSocket connections of a client over libwebsockets, on its own poll loop.
//
// Everything here belongs to the thread that created the loop, except hearth_client_loop_wake and
// hearth_client_addresses. "Owner" pointers are the caller's; this code stores them and hands them back, and never
// reads through them.
#ifndef HEARTH_CCLIENTTRANSPORT_H
#define HEARTH_CCLIENTTRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hearth_client_loop hearth_client_loop;
typedef struct hearth_client_socket hearth_client_socket;

enum {
    /// Room for one line of text that says why something failed.
    HEARTH_CLIENT_REASON_SIZE = 512,
    /// Bytes of a `host`, and of a `target`, that libwebsockets sends without cutting them.
    HEARTH_CLIENT_HOST_LIMIT = 110,
    HEARTH_CLIENT_TARGET_LIMIT = 2000,
    /// Bytes of all further header lines.
    HEARTH_CLIENT_HEADERS_LIMIT = 8192,
    /// Room for a numeric address with a scope.
    HEARTH_CLIENT_ADDRESS_SIZE = 64,
};

/// The next operation on a socket after its `writable` call.
typedef enum {
    /// Nothing waits.
    HEARTH_CLIENT_IDLE,
    /// More output waits: `writable` is called again.
    HEARTH_CLIENT_AGAIN,
    /// All is written: a close frame is sent, and the socket closes when the server has answered it.
    HEARTH_CLIENT_CLOSE,
} hearth_client_next;

typedef struct {
    /// The WebSocket handshake is done.
    void (*opened)(void *owner);
    /// Bytes of a text message, the last ones if `is_end`; valid only during the call. Returns 0, or the code of the
    /// close frame to close the socket with.
    uint16_t (*received)(void *owner, const uint8_t *bytes, size_t byte_count, bool is_end);
    /// The socket takes frames, after it opened and after hearth_client_socket_want_writable.
    hearth_client_next (*writable)(void *owner);
    /// The last call for this socket, which must not be used again. `is_connected`: there was a TCP connection, so
    /// other addresses of the host need not be tried.
    void (*closed)(void *owner, bool is_connected, const char *reason);
} hearth_client_callbacks;

/// The data for opening a socket. The texts are copied.
typedef struct {
    /// Numeric, without brackets.
    const char *address;
    int port;
    bool is_secure;
    /// The Host header.
    const char *host;
    /// The name or address (without brackets) that the server's certificate must have.
    const char *name;
    /// Path and query.
    const char *target;
    /// Lines, each with CR LF at its end.
    const char *headers;
    /// A PEM file, or NULL for the authorities of the system.
    const char *authorities;
    /// For the connection and the handshakes together.
    int64_t milliseconds;
} hearth_client_request;

/// Creates the loop. NULL on failure, with the cause in `reason`.
///
/// SIGPIPE keeps the action of the process: it is blocked in the calling thread, so it cannot kill the process.
hearth_client_loop *hearth_client_loop_create(const hearth_client_callbacks *callbacks,
                                              char reason[HEARTH_CLIENT_REASON_SIZE]);
/// Waits until there is work or the loop is woken, and does the work. False when the loop is broken.
bool hearth_client_loop_tick(hearth_client_loop *loop);
/// Ends a waiting tick, or the next one at once. Any thread.
void hearth_client_loop_wake(hearth_client_loop *loop);
/// Frees the loop; its sockets must have closed.
void hearth_client_loop_destroy(hearth_client_loop *loop);

/// Starts to open a WebSocket; `closed` is called for every returned socket, and never from within this call.
///
/// NULL, with the cause in `reason`, when it cannot even start.
hearth_client_socket *hearth_client_socket_open(hearth_client_loop *loop, void *owner,
                                                const hearth_client_request *request,
                                                char reason[HEARTH_CLIENT_REASON_SIZE]);
/// Sends one text frame, from within `writable` only. 1: another may follow; 0: not before the next `writable`;
/// -1: the connection is broken.
int hearth_client_socket_send(hearth_client_socket *socket, const uint8_t *bytes, size_t byte_count);
/// Asks for a `writable` call; harmless before the socket is open.
void hearth_client_socket_want_writable(hearth_client_socket *socket);
/// Lets an open socket write what waits, and aborts it if it has not closed within `milliseconds`.
void hearth_client_socket_close_within(hearth_client_socket *socket, int64_t milliseconds);
/// Closes without a close frame; `closed` is called later, with this reason.
void hearth_client_socket_abort(hearth_client_socket *socket, const char *reason);

/// Looks up the addresses of a host, in the order to try them. Waits for the network. Any thread.
///
/// `addresses` has room for `room` texts of HEARTH_CLIENT_ADDRESS_SIZE bytes. Returns how many are filled; 0 on
/// failure, with the cause in `reason`.
int hearth_client_addresses(const char *name, char *addresses, int room, char reason[HEARTH_CLIENT_REASON_SIZE]);

/// Names the calling thread and blocks every signal in it, so that the handlers of the process run in its other threads.
void hearth_client_begin_thread(void);

#endif
