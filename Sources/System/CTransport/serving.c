// Which sockets are served in a tick: limited in number and time, one read each.
//
// libuv reports up to 49,152 ready descriptors in one go, as many as peers send or leave at once. So sockets are in sets
// of our own (epoll), and libuv and libwebsockets watch the sets. The system reports the ready sockets of a set in turn,
// a few at a time; those that a tick has no time for are the first in the next.
#include "internal.h"

#include <errno.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/// After this time no further socket is served in a tick: other work of the loop goes on.
static const uint64_t SERVING_NANOSECONDS = 10 * 1000 * 1000;
/// After this time no further TLS handshake goes on in a tick. One takes up to a millisecond, a thousand times a read:
/// those that are connected do not wait behind all who want to be.
static const uint64_t OPENING_NANOSECONDS = 2 * 1000 * 1000;

static uint64_t now_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// MARK: Sets

static bool prepare(hearth_loop *loop, hearth_set *set) {
    set->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (set->epoll < 0) return false;
    lws_adopt_desc_t info = {
        .vh = loop->vhost,
        .type = LWS_ADOPT_RAW_FILE_DESC,
        .vh_prot_name = "hearth",
        .fd = {.filefd = set->epoll},
        .opaque = set,
    };
    // Closes the descriptor when it fails, and when the context ends.
    struct lws *watch = lws_adopt_descriptor_vhost_via_info(&info);
    if (watch) lws_set_timeout(watch, NO_PENDING_TIMEOUT, 0);
    return watch;
}

bool hearth_serving_prepare(hearth_loop *loop) {
    return prepare(loop, &loop->open) && prepare(loop, &loop->opening);
}

int hearth_lws_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                        size_t length) {
    (void)user, (void)in, (void)length;
    hearth_set *set = reason == LWS_CALLBACK_RAW_RX_FILE ? lws_get_opaque_user_data(wsi) : NULL;
    if (set) set->is_ready = true;
    return 0;
}

static uint32_t wanted_events(const hearth_socket *socket) {
    uint32_t events = (socket->is_paused ? 0 : EPOLLIN) | (socket->wants_writable ? EPOLLOUT : 0);
    // The end of a connection is always reported; with this, once.
    return events ? events : EPOLLET;
}

static bool control(hearth_socket *socket, int operation) {
    socket->events = wanted_events(socket);
    struct epoll_event event = {.events = socket->events, .data.ptr = socket};
    return !epoll_ctl(socket->set->epoll, operation, socket->descriptor, &event);
}

bool hearth_serving_add(hearth_socket *socket) {
    hearth_loop *loop = socket->loop;
    socket->set = socket->tls && hearth_tls_is_opening(socket) ? &loop->opening : &loop->open;
    return control(socket, EPOLL_CTL_ADD);
}

void hearth_serving_update(hearth_socket *socket) {
    if (socket->events != wanted_events(socket)) control(socket, EPOLL_CTL_MOD);
}

void hearth_serving_remove(hearth_socket *socket) {
    hearth_set *set = socket->set;
    control(socket, EPOLL_CTL_DEL);
    for (int index = set->next; index < set->count; index++)
        if (set->reported[index].data.ptr == socket) set->reported[index].data.ptr = NULL;
}

// MARK: Serving

// Returns as hearth_tls_read does.
static ptrdiff_t read_plain(hearth_socket *socket, uint8_t *bytes, size_t byte_count) {
    ssize_t count;
    do {
        count = recv(socket->descriptor, bytes, byte_count, MSG_DONTWAIT);
    } while (count < 0 && errno == EINTR);
    if (count > 0) return count;
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : -1;
}

// Reads once. Returns whether the peer is there.
static bool read_once(hearth_socket *socket) {
    hearth_loop *loop = socket->loop;
    ptrdiff_t count = socket->tls ? hearth_tls_read(socket, loop->read_buffer, sizeof loop->read_buffer)
                                  : read_plain(socket, loop->read_buffer, sizeof loop->read_buffer);
    if (count > 0) loop->callbacks.received(socket->owner, loop->read_buffer, (size_t)count);
    if (count < 0) return false;
    if (socket->set != &loop->opening || hearth_tls_is_opening(socket)) return true;
    // The handshake is over: it is a socket like others now.
    hearth_serving_remove(socket);
    return hearth_serving_add(socket);
}

static void serve(hearth_socket *socket, uint32_t events) {
    bool is_over = events & (EPOLLERR | EPOLLHUP);
    bool has_input = events & EPOLLIN || is_over;
    // A pause takes effect here, when input comes. Most are over before that, and cost no call of the system.
    bool is_unwanted = (has_input && socket->is_paused) || (events & EPOLLOUT && !socket->wants_writable);
    if (socket->wants_writable && (events & EPOLLOUT || is_over)) {
        has_input = has_input || socket->reads_when_writable;
        socket->wants_writable = false;
        is_unwanted = true;
        socket->loop->callbacks.writable(socket->owner);
    }
    if (has_input && !socket->is_paused && !read_once(socket))
        hearth_socket_destroy(socket);
    else if (is_unwanted)
        hearth_serving_update(socket);
}

static void serve_set(hearth_loop *loop, hearth_set *set, uint64_t nanoseconds) {
    if (set->next == set->count && set->is_ready) {
        set->is_ready = false;
        int count = epoll_wait(set->epoll, set->reported, HEARTH_SOCKETS_PER_TICK, 0);
        set->next = 0;
        set->count = count > 0 ? count : 0;
    }
    if (set->next == set->count) return;
    if (loop->served_count == 0) loop->callbacks.serves();
    uint64_t end = now_nanoseconds() + nanoseconds;
    do {
        struct epoll_event *event = &set->reported[set->next++];
        if (!event->data.ptr) continue;
        loop->served_count++;
        serve(event->data.ptr, event->events);
    } while (set->next < set->count && now_nanoseconds() < end);
}

static bool waits(const hearth_set *set) { return set->next < set->count; }

bool hearth_serving_is_behind(const hearth_loop *loop) { return waits(&loop->open) || waits(&loop->opening); }

void hearth_serving_run(hearth_loop *loop) {
    serve_set(loop, &loop->open, SERVING_NANOSECONDS);
    serve_set(loop, &loop->opening, OPENING_NANOSECONDS);
}
