/*
 * bare_broadcast: what fan-out costs at the least, for Hearth to be held against.
 *
 *     bare_broadcast            prints "ready http://127.0.0.1:PORT", serves until it is killed
 *
 * One thread, epoll, one send for each message and listener. It speaks only as much as `rtload hearth`
 * needs: whatever holds "a":"q" is a listen, "a":"p" a put whose value goes to all listeners in the
 * bytes that Hearth sends. It parses no JSON, asks no rules, keeps no tree and no log.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 65536, INPUT_MAX = 65536, EVENTS_MAX = 512 };

typedef struct {
    char *input;
    size_t input_count;
    int is_open;
    int is_upgraded;
    int is_listening;
} connection;

/* By descriptor. */
static connection connections[CONNECTIONS_MAX];
static int listeners[CONNECTIONS_MAX];
static int listener_count;

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void drop(int socket) {
    connection *connection = &connections[socket];
    for (int index = 0; connection->is_listening && index < listener_count; index++) {
        if (listeners[index] == socket) {
            listeners[index] = listeners[--listener_count];
            break;
        }
    }
    free(connection->input);
    memset(connection, 0, sizeof *connection);
    close(socket);
}

/* A peer that has gone is dropped at its next read. */
static void send_all(int socket, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = send(socket, bytes, count, MSG_NOSIGNAL);
        if (sent >= 0) {
            bytes += sent;
            count -= (size_t)sent;
        } else if (errno == EAGAIN) {
            struct pollfd writable = {.fd = socket, .events = POLLOUT};
            poll(&writable, 1, 1000);
        } else if (errno != EINTR) {
            return;
        }
    }
}

/* An unmasked text frame (RFC 6455, 5.2). */
static size_t make_frame(char *out, const char *text, size_t count) {
    size_t head = 0;
    out[head++] = (char)0x81;
    if (count < 126) {
        out[head++] = (char)count;
    } else {
        out[head++] = 126;
        out[head++] = (char)(count >> 8);
        out[head++] = (char)(count & 255);
    }
    memcpy(out + head, text, count);
    return head + count;
}

static void send_text(int socket, const char *text, size_t count) {
    static char frame[INPUT_MAX + 16];
    send_all(socket, frame, make_frame(frame, text, count));
}

static void upgrade(int socket) {
    /* The driver's key never changes, so neither does what RFC 6455 wants for it. */
    static const char answer[] = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                                 "Connection: Upgrade\r\n"
                                 "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
    static const char hello[] = "{\"t\":\"c\",\"d\":{\"t\":\"h\",\"d\":{\"v\":\"5\"}}}";
    send_all(socket, answer, sizeof answer - 1);
    send_text(socket, hello, sizeof hello - 1);
    connections[socket].is_upgraded = 1;
}

static void confirm(int socket, const char *text) {
    char answer[128];
    const char *number = strstr(text, "\"r\":");
    int count = snprintf(
        answer, sizeof answer, "{\"t\":\"d\",\"d\":{\"r\":%ld,\"b\":{\"s\":\"ok\",\"d\":{}}}}",
        number ? atol(number + 4) : 0);
    send_text(socket, answer, (size_t)count);
}

/* The put `..."b":{"p":"/PATH","d":VALUE}}}` goes out as `..."b":{"p":"PATH","d":VALUE}...`. */
static void broadcast(const char *text, size_t count) {
    static char message[INPUT_MAX], frame[INPUT_MAX + 16];
    const char *body = strstr(text, "\"p\":\"/");
    if (!body || count < (size_t)(body - text) + 9) return;
    body += 6;
    int length = snprintf(
        message, sizeof message, "{\"t\":\"d\",\"d\":{\"a\":\"d\",\"b\":{\"p\":\"%.*s}}}",
        (int)(text + count - 3 - body), body);
    size_t frame_count = make_frame(frame, message, (size_t)length);
    for (int index = 0; index < listener_count; index++) {
        send_all(listeners[index], frame, frame_count);
    }
}

static void receive(int socket, char *text, size_t count) {
    char after = text[count];
    text[count] = 0;
    if (strstr(text, "\"a\":\"q\"") && !connections[socket].is_listening) {
        connections[socket].is_listening = 1;
        listeners[listener_count++] = socket;
        confirm(socket, text);
    } else if (strstr(text, "\"a\":\"p\"")) {
        broadcast(text, count);
        confirm(socket, text);
    }
    text[count] = after;
}

/* Takes the first frame off the input; returns its byte count, 0 while it is not whole. */
static size_t take_frame(int socket, char *bytes, size_t count) {
    if (count < 6) return 0;
    size_t head = 6, length = (unsigned char)bytes[1] & 127;
    if (length == 126) {
        if (count < 8) return 0;
        length = (size_t)(unsigned char)bytes[2] << 8 | (unsigned char)bytes[3];
        head = 8;
    }
    if (count < head + length) return 0;
    const char *mask = bytes + head - 4;
    for (size_t index = 0; index < length; index++) bytes[head + index] ^= mask[index & 3];
    receive(socket, bytes + head, length);
    return head + length;
}

static void read_from(int socket) {
    connection *connection = &connections[socket];
    size_t room = INPUT_MAX - connection->input_count;
    ssize_t got = recv(socket, connection->input + connection->input_count, room, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        drop(socket);
        return;
    }
    connection->input_count += (size_t)got;
    size_t used = 0;
    if (!connection->is_upgraded) {
        char *end = memmem(connection->input, connection->input_count, "\r\n\r\n", 4);
        if (!end) return;
        upgrade(socket);
        used = (size_t)(end - connection->input) + 4;
    }
    size_t frame;
    while ((frame = take_frame(socket, connection->input + used, connection->input_count - used))) {
        used += frame;
    }
    connection->input_count -= used;
    memmove(connection->input, connection->input + used, connection->input_count);
}

static void accept_all(int epoll, int listening) {
    int socket;
    while ((socket = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        if (socket >= CONNECTIONS_MAX) {
            close(socket);
            continue;
        }
        int on = 1;
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        /* One byte more, for the end of a text. */
        connections[socket].input = malloc(INPUT_MAX + 1);
        if (!connections[socket].input) die("malloc");
        connections[socket].is_open = 1;
        struct epoll_event event = {.events = EPOLLIN, .data.fd = socket};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event) != 0) die("epoll_ctl");
    }
}

static int listen_anywhere(void) {
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (listening < 0 || bind(listening, (struct sockaddr *)&address, size) != 0
        || listen(listening, 1024) != 0
        || getsockname(listening, (struct sockaddr *)&address, &size) != 0) {
        die("listen");
    }
    printf("ready http://127.0.0.1:%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listening;
}

int main(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    int listening = listen_anywhere();
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listening};
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listening, &event) != 0) die("epoll");
    for (;;) {
        struct epoll_event events[EVENTS_MAX];
        int ready = epoll_wait(epoll, events, EVENTS_MAX, -1);
        for (int index = 0; index < ready; index++) {
            int socket = events[index].data.fd;
            if (socket == listening) accept_all(epoll, listening);
            else if (connections[socket].is_open) read_from(socket);
        }
    }
}
