/* Requests of the protocols, and the chat message that all of them carry. */
#define _GNU_SOURCE
#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void die(const char *what) {
    fprintf(stderr, "rtload: %s%s%s\n", what, errno ? ": " : "", errno ? strerror(errno) : "");
    exit(1);
}

/* MARK: Sockets */

void send_all(int socket, const void *bytes, size_t count) {
    const char *next = bytes;
    while (count > 0) {
        ssize_t sent = send(socket, next, count, MSG_NOSIGNAL);
        if (sent >= 0) {
            next += sent;
            count -= (size_t)sent;
        } else if (errno == EAGAIN) {
            struct pollfd writable = {.fd = socket, .events = POLLOUT};
            poll(&writable, 1, 1000);
        } else if (errno != EINTR) {
            die("send");
        }
    }
}

static int connect_to(int port) {
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) die("socket");
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0) die("connect");
    int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return descriptor;
}

/* Reads until `mark` has come; what is read is of no other use. */
static void read_until(int socket, const char *mark) {
    char text[16384];
    size_t count = 0;
    while (count < sizeof text) {
        ssize_t got = recv(socket, text + count, sizeof text - count, 0);
        if (got <= 0) die("the server closed a connection that was logging in");
        count += (size_t)got;
        if (memmem(text, count, mark, strlen(mark))) return;
    }
    die("the server's greeting is too long");
}

/* MARK: WebSocket */

size_t make_frame(char *out, const char *text, size_t count) {
    size_t head = 0;
    out[head++] = (char)0x81;
    if (count < 126) {
        out[head++] = (char)(0x80 | count);
    } else if (count < 65536) {
        out[head++] = (char)(0x80 | 126);
        out[head++] = (char)(count >> 8);
        out[head++] = (char)(count & 255);
    } else {
        die("a frame of more than 64 KiB");
    }
    memset(out + head, 0, 4);
    memcpy(out + head + 4, text, count);
    return head + 4 + count;
}

int log_in(const target *target) {
    int socket = connect_to(target->port);
    if (target->protocol == REDIS) {
        send_all(socket, "PING\r\n", 6);
        read_until(socket, "+PONG");
        return socket;
    }
    if (target->protocol == REST) return socket;
    char request[512];
    int count = snprintf(
        request, sizeof request,
        "GET /.ws?v=5&ns=bench HTTP/1.1\r\nHost: localhost:%d\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Version: 13\r\n\r\n",
        target->port);
    send_all(socket, request, (size_t)count);
    read_until(socket, "\"h\"");
    return socket;
}

void subscribe(const target *target, int socket) {
    char text[512], request[600];
    if (target->protocol == REDIS) {
        int count = snprintf(text, sizeof text, "SUBSCRIBE %s\r\n", target->topic);
        send_all(socket, text, (size_t)count);
        read_until(socket, ":1\r\n");
        return;
    }
    if (target->protocol == REST) {
        int count = snprintf(
            text, sizeof text,
            "GET /%s.json?ns=bench HTTP/1.1\r\nHost: localhost:%d\r\nAccept: text/event-stream\r\n\r\n",
            target->topic, target->port);
        send_all(socket, text, (size_t)count);
        read_until(socket, "event: put");
        return;
    }
    int count = snprintf(
        text, sizeof text,
        "{\"t\":\"d\",\"d\":{\"r\":1,\"a\":\"q\",\"b\":{\"p\":\"/%s\",\"h\":\"\"}}}", target->topic);
    send_all(socket, request, make_frame(request, text, (size_t)count));
    read_until(socket, "\"s\":\"ok\"");
}

/* MARK: Messages */

/* A chat message of exactly `size` bytes of JSON; its content begins with the stamp. */
static void make_message(char *out, int size, long number, uint64_t stamp) {
    static const char words[] = "the quick brown fox jumps over the lazy dog and goes on ";
    char tail[128];
    int tail_count = snprintf(
        tail, sizeof tail,
        "\",\"timestamp\":%ld,\"sender\":{\"uid\":\"u-%06ld\",\"username\":\"%c%c%c%c\"}}",
        1712000000000 + number % 1000000000, number % 1000000, (int)('a' + number % 26),
        (int)('a' + number % 25), (int)('a' + number % 23), (int)('a' + number % 21));
    int count = sprintf(out, "{\"content\":\"" STAMP_MARK "%016lx", (unsigned long)stamp);
    for (int index = 0; count < size - tail_count; index++) {
        out[count++] = words[(size_t)index % (sizeof words - 1)];
    }
    memcpy(out + count, tail, (size_t)tail_count + 1);
}

/* A PUT of a body; at most REQUEST_MAX bytes. */
static size_t make_put(const target *target, char *out, const char *key, const char *body) {
    return (size_t)sprintf(
        out,
        "PUT /%s/%s.json?ns=bench HTTP/1.1\r\nHost: localhost:%d\r\nContent-Length: %zu\r\n\r\n%s",
        target->topic, key, target->port, strlen(body), body);
}

size_t make_read(const target *target, char *out) {
    return (size_t)sprintf(
        out, "GET /%s.json?ns=bench HTTP/1.1\r\nHost: localhost:%d\r\n\r\n", target->topic,
        target->port);
}

size_t make_publish(const target *target, char *out, long number, uint64_t stamp) {
    char message[PAYLOAD_MAX + 1], text[REQUEST_MAX];
    make_message(message, target->payload, number, stamp);
    if (target->protocol == REDIS) {
        return (size_t)sprintf(
            out, "*3\r\n$7\r\nPUBLISH\r\n$%zu\r\n%s\r\n$%d\r\n%s\r\n", strlen(target->topic),
            target->topic, target->payload, message);
    }
    if (target->protocol == REST) {
        char key[24];
        snprintf(key, sizeof key, "m%ld", number % target->rotation);
        return make_put(target, out, key, message);
    }
    int count = sprintf(
        text, "{\"t\":\"d\",\"d\":{\"r\":%ld,\"a\":\"p\",\"b\":{\"p\":\"/%s/m%ld\",\"d\":%s}}}",
        number + 2, target->topic, number % target->rotation, message);
    return make_frame(out, text, (size_t)count);
}

size_t make_write(const target *target, char *out, int client, long number) {
    char message[PAYLOAD_MAX + 1], text[REQUEST_MAX], key[64];
    make_message(message, target->payload, number, (uint64_t)number * 0x9e3779b97f4a7c15u);
    /* Of this run alone: a put that changes nothing makes no commit, and would cost no sync. */
    snprintf(key, sizeof key, "-N%05d%04d%09ld", getpid() % 100000, client, number);
    if (target->protocol == REDIS) {
        return (size_t)sprintf(
            out, "*3\r\n$3\r\nSET\r\n$%zu\r\nmsg:%s\r\n$%d\r\n%s\r\n", 4 + strlen(key), key,
            target->payload, message);
    }
    if (target->protocol == REST) return make_put(target, out, key, message);
    int count = sprintf(
        text, "{\"t\":\"d\",\"d\":{\"r\":%ld,\"a\":\"p\",\"b\":{\"p\":\"/%s/%s\",\"d\":%s}}}",
        number + 2, target->topic, key, message);
    return make_frame(out, text, (size_t)count);
}

const char *acknowledgement(const target *target) {
    switch (target->protocol) {
    case REDIS: return "+OK\r\n";
    case REST: return "HTTP/1.1 200";
    default: return "\"s\":\"ok\"";
    }
}
