// Which plain sockets are read from in a turn: so many, each with one read, for so long.
//
// libuv and libwebsockets serve whatever is ready in one go, tens of thousands of events when as many
// peers speak or leave at once. A socket that comes too late in a turn is not watched any more and
// waits in a queue for the next turn; so does one whose peer has left, since libwebsockets walks a
// table as long as the descriptor limit to close it.
#include "internal.h"

#include <errno.h>
#include <sys/socket.h>
#include <time.h>

/// After so long no further socket is served in a turn: other work of the loop has its turn.
static const uint64_t SERVING_NANOSECONDS = 10 * 1000 * 1000;

static uint64_t now_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void enqueue(hearth_queue *queue, hearth_socket *socket) {
    socket->queue = queue;
    socket->previous = queue->last;
    socket->next = NULL;
    if (queue->last)
        queue->last->next = socket;
    else
        queue->first = socket;
    queue->last = socket;
}

void hearth_serving_remove(hearth_socket *socket) {
    hearth_queue *queue = socket->queue;
    if (!queue) return;
    if (socket->previous)
        socket->previous->next = socket->next;
    else
        queue->first = socket->next;
    if (socket->next)
        socket->next->previous = socket->previous;
    else
        queue->last = socket->previous;
    socket->queue = NULL;
}

bool hearth_serving_is_behind(const hearth_loop *loop) {
    return loop->readable.first || loop->over.first;
}

// Whether another socket may be read from in this turn.
static bool takes_turn(hearth_loop *loop) {
    uint64_t now = now_nanoseconds();
    if (loop->served_count == 0) loop->serving_end = now + SERVING_NANOSECONDS;
    if (loop->served_count >= HEARTH_SOCKETS_PER_TURN || now >= loop->serving_end) return false;
    loop->served_count++;
    return true;
}

// Reads once. Returns whether the peer is there.
static bool read_once(hearth_socket *socket) {
    hearth_loop *loop = socket->loop;
    ssize_t count;
    do {
        count = recv(lws_get_socket_fd(socket->wsi), loop->read_buffer, sizeof loop->read_buffer,
                     MSG_DONTWAIT);
    } while (count < 0 && errno == EINTR);
    if (count > 0) {
        loop->callbacks.received(socket->owner, loop->read_buffer, (size_t)count);
        return true;
    }
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

void hearth_serving_readable(hearth_socket *socket) {
    hearth_loop *loop = socket->loop;
    if (socket->queue || socket->is_paused || !socket->owner) return;
    hearth_queue *queue = &loop->readable;
    if (takes_turn(loop)) {
        if (read_once(socket)) return;
        queue = &loop->over;
    }
    lws_rx_flow_control(socket->wsi, 0);
    enqueue(queue, socket);
}

void hearth_serving_begin(hearth_loop *loop) {
    loop->served_count = 0;
    for (int count = 0; loop->over.first && count < HEARTH_SOCKETS_PER_TURN; count++)
        hearth_socket_destroy(loop->over.first);
    while (loop->readable.first && takes_turn(loop)) {
        hearth_socket *socket = loop->readable.first;
        hearth_serving_remove(socket);
        // Who resumes it lets it be watched again.
        if (socket->is_paused) continue;
        if (read_once(socket))
            lws_rx_flow_control(socket->wsi, socket->is_paused ? 0 : 1);
        else
            enqueue(&loop->over, socket);
    }
}
