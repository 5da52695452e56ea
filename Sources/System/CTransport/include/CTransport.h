// The C half of Transport: one event loop (libwebsockets on libuv), listening sockets, and stream
// sockets, plain or with TLS. It knows nothing of HTTP or WebSocket.
//
// Everything here belongs to the loop thread, except hearth_loop_wake. "Owner" pointers are the
// caller's; this code stores them and hands them back, and never reads through them.
#ifndef HEARTH_CTRANSPORT_H
#define HEARTH_CTRANSPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

typedef struct hearth_loop hearth_loop;
typedef struct hearth_listener hearth_listener;
typedef struct hearth_signal hearth_signal;
typedef struct hearth_socket hearth_socket;

/// Room for a numeric IPv6 address with a scope.
enum { HEARTH_ADDRESS_SIZE = 64 };
/// Room for one line of error text.
enum { HEARTH_REASON_SIZE = 256 };

typedef struct {
    char address[HEARTH_ADDRESS_SIZE];
    int port;
    /// Equal for addresses of one holder: an IPv4 address, or the first 64 bits of an IPv6 one.
    uint64_t network;
} hearth_endpoint;

typedef struct {
    /// A connection was taken from the backlog, at no cost yet. False resets it at once.
    bool (*admits)(void *listener_owner, const hearth_endpoint *peer);
    /// A socket was accepted. Returns the owner of the socket, or NULL to close it at once.
    void *(*accepted)(void *listener_owner, hearth_socket *socket, const hearth_endpoint *peer);
    /// An accept failed (`error_number`), or the TLS layer refused the new socket (0).
    void (*accept_failed)(void *listener_owner, int error_number);
    /// The first socket of a tick is about to be served.
    void (*serves)(void);
    /// Bytes arrived. They are valid during the call only.
    void (*received)(void *socket_owner, const uint8_t *bytes, size_t byte_count);
    /// The socket can take bytes again, after hearth_socket_want_writable.
    void (*writable)(void *socket_owner);
    /// The last call for this socket, which must not be used again. Comes for every accepted one.
    void (*closed)(void *socket_owner);
    /// A signal of hearth_loop_on_signal arrived.
    void (*signalled)(int number);
} hearth_callbacks;

/// Creates the loop. NULL on failure, with the cause in `reason`.
///
/// Raises RLIMIT_NOFILE to at most `descriptor_limit` and ignores SIGPIPE for the process.
hearth_loop *hearth_loop_create(const hearth_callbacks *callbacks, int descriptor_limit,
                                char reason[HEARTH_REASON_SIZE]);
/// Runs the callbacks of ready sockets, within limits of number and time (see serving.c); the rest is served first in
/// the next tick. `may_wait`: sleep until there is something. Returns the number of sockets that were served.
int hearth_loop_tick(hearth_loop *loop, bool may_wait);
/// Ends a sleeping tick. Any thread; several calls before the tick ends count as one.
void hearth_loop_wake(hearth_loop *loop);
/// Ends a sleeping tick after `milliseconds`; each call replaces the last. Negative: never.
void hearth_loop_set_alarm(hearth_loop *loop, int64_t milliseconds);
/// Calls `signalled` on the loop when the process gets signal `number`. Returns 0 or an errno value.
int hearth_loop_on_signal(hearth_loop *loop, int number);
/// Closes every socket and frees the loop. Returns the number of handles that refused to close.
int hearth_loop_destroy(hearth_loop *loop);

/// Binds and starts accepting. `certificate` and `key` are both NULL (no TLS) or PEM files.
///
/// Returns NULL on failure: `error_number` is the errno value of the socket call that failed, 0 for
/// an unknown host, or -1 for bad TLS files; `reason` says in words what failed.
hearth_listener *hearth_listen(hearth_loop *loop, const char *host, int port,
                               const char *certificate, const char *key, void *owner,
                               hearth_endpoint *bound, int *error_number,
                               char reason[HEARTH_REASON_SIZE]);
/// The facts of a certificate; times in seconds since 1970, -1 for an invalid one.
typedef struct {
    int64_t not_before;
    int64_t not_after;
    /// Whether it is valid for the given host.
    bool is_for_host;
} hearth_certificate;

/// Reads a certificate and its key without using them. `host` is NULL or a name or address without brackets.
///
/// False, with the `reason`, when a server could not use the files.
bool hearth_certificate_read(const char *certificate, const char *key, const char *host,
                             hearth_certificate *out, char reason[HEARTH_REASON_SIZE]);

/// Closes the listening socket; accepted sockets stay open. May be repeated.
void hearth_listener_stop(hearth_listener *listener);
/// Stops or resumes taking new connections from the backlog.
void hearth_listener_pause(hearth_listener *listener, bool paused);
/// Reads certificate and key again for handshakes from now on. On failure the old ones stay,
/// `reason` says why, and false is returned.
bool hearth_listener_reload(hearth_listener *listener, const char *certificate, const char *key,
                            char reason[HEARTH_REASON_SIZE]);
/// Frees the listener. All its sockets must have been closed.
void hearth_listener_free(hearth_listener *listener);

/// Sends without waiting. Returns the number of bytes taken, fewer than `byte_count` when the
/// socket is full, or -1 when the connection is broken.
///
/// After a short count the next call must begin with the bytes that were not taken, and offer at
/// least as many (a TLS record may already hold them). With `more_follow` the system may keep a packet that is not full until
/// the next call, for 200 ms at most.
ptrdiff_t hearth_socket_send(hearth_socket *socket, const uint8_t *bytes, size_t byte_count, bool more_follow);
/// Asks for one `writable` call.
void hearth_socket_want_writable(hearth_socket *socket);
/// Stops or resumes `received` calls; TCP then slows the peer down.
void hearth_socket_pause(hearth_socket *socket, bool paused);
/// Whether bytes have arrived that are not read yet.
bool hearth_socket_has_input(hearth_socket *socket);
/// Tells the peer that no more bytes will come; receiving continues.
void hearth_socket_finish(hearth_socket *socket);
/// Closes now; `closed` is called before this returns. Not from inside a callback of this socket.
void hearth_socket_destroy(hearth_socket *socket);

/// The Sec-WebSocket-Accept value for a Sec-WebSocket-Key: base64 of SHA-1, 28 bytes and a NUL.
void hearth_websocket_accept(const char *key, size_t key_byte_count, char out[29]);

/// Has malloc keep at most 4 MiB of free memory at the end of what each thread allocates from, and give blocks of 4 MiB
/// and more back as soon as they are freed. Once, before there is much.
void hearth_bound_free_memory(void);

/// Returns freed memory from malloc to the system. Any thread; takes time in proportion to the pages.
void hearth_return_memory(void);

/// Sends libwebsockets' errors and warnings to `sink` (level 1 error, 2 warning), one line each.
void hearth_set_log(void (*sink)(int level, const char *line));

#endif
