/* Connections that read whole messages of the Realtime Database protocol. */
#define _GNU_SOURCE
#include "load.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    /* Bytes that one read asks for. */
    READ_SIZE = 65536,
    /* Bytes of a segment, as the JavaScript client cuts a long message. */
    SEGMENT_SIZE = 16384,
};

int fill_inbox(inbox *inbox) {
    if (inbox->first > 0) {
        memmove(inbox->bytes, inbox->bytes + inbox->first, inbox->count - inbox->first);
        inbox->count -= inbox->first;
        inbox->first = 0;
    }
    static char read[READ_SIZE];
    ssize_t got = recv(inbox->socket, read, sizeof read, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (got <= 0) die("the server closed a connection");
    if (inbox->count + (size_t)got > inbox->capacity) {
        inbox->capacity = inbox->count + (size_t)got;
        inbox->bytes = realloc(inbox->bytes, inbox->capacity);
        if (!inbox->bytes) die("memory");
    }
    memcpy(inbox->bytes + inbox->count, read, (size_t)got);
    inbox->count += (size_t)got;
    return 1;
}

frame next_frame(inbox *inbox) {
    const frame none = {0};
    const unsigned char *head = (const unsigned char *)inbox->bytes + inbox->first;
    size_t have = inbox->count - inbox->first, head_count = 2;
    if (have < head_count) return none;
    size_t count = head[1] & 127;
    if (count == 126) {
        head_count = 4;
        if (have < head_count) return none;
        count = (size_t)head[2] << 8 | head[3];
    } else if (count == 127) {
        die("the server sent a frame of more than 64 KiB");
    }
    if (have < head_count + count) return none;
    inbox->first += head_count + count;
    return (frame){.text = (const char *)head + head_count, .count = count};
}

const char *find_in(frame frame, const char *mark) {
    return memmem(frame.text, frame.count, mark, strlen(mark));
}

int is_answer(frame frame, long number) {
    char mark[64];
    snprintf(mark, sizeof mark, "\"r\":%ld,", number);
    if (!find_in(frame, mark)) return 0;
    if (find_in(frame, "\"s\":\"ok\"")) return 1;
    fprintf(stderr, "rtload: %.*s\n", (int)frame.count, frame.text);
    errno = 0;
    die("the server refused a request");
}

static void await_bytes(inbox *inbox) {
    struct pollfd readable = {.fd = inbox->socket, .events = POLLIN};
    if (poll(&readable, 1, STALL_SECONDS * 1000) == 0) die("stalled");
}

void await_answer(inbox *inbox, long number) {
    for (;;) {
        frame frame;
        while ((frame = next_frame(inbox)).text != NULL) {
            if (is_answer(frame, number)) return;
        }
        if (!fill_inbox(inbox)) await_bytes(inbox);
    }
}

void send_message(int socket, const char *text, size_t count) {
    char out[SEGMENT_SIZE + FRAME_HEAD_MAX];
    if (count > SEGMENT_SIZE) {
        char number[16];
        size_t segments = (count + SEGMENT_SIZE - 1) / SEGMENT_SIZE;
        size_t digits = (size_t)snprintf(number, sizeof number, "%zu", segments);
        send_all(socket, out, make_frame(out, number, digits));
    }
    for (size_t start = 0; start < count; start += SEGMENT_SIZE) {
        size_t piece = count - start < SEGMENT_SIZE ? count - start : SEGMENT_SIZE;
        send_all(socket, out, make_frame(out, text + start, piece));
    }
}

void send_request(int socket, const char *format, ...) {
    char text[REQUEST_MAX];
    va_list values;
    va_start(values, format);
    int count = vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (count < 0 || (size_t)count >= sizeof text) die("a request is too long");
    send_message(socket, text, (size_t)count);
}

/* Base64 for URLs, without padding. */
static void encode_base64(char *out, const char *text) {
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t count = strlen(text);
    for (size_t index = 0; index < count; index += 3) {
        size_t bytes = count - index < 3 ? count - index : 3;
        uint32_t bits = 0;
        for (size_t place = 0; place < 3; place++) {
            bits = bits << 8 | (place < bytes ? (unsigned char)text[index + place] : 0);
        }
        for (size_t place = 0; place <= bytes; place++) {
            *out++ = digits[bits >> (18 - 6 * place) & 63];
        }
    }
    *out = 0;
}

inbox log_in_as(const target *target, const char *user) {
    inbox inbox = {.socket = log_in(target)};
    char token[512];
    snprintf(token, sizeof token, "owner");
    if (strcmp(user, "owner") != 0) {
        char claims[256], part[384];
        snprintf(claims, sizeof claims, "{\"sub\":\"%s\"}", user);
        encode_base64(part, claims);
        snprintf(token, sizeof token, "eyJhbGciOiJub25lIn0.%s.", part);
    }
    send_request(
        inbox.socket, "{\"t\":\"d\",\"d\":{\"r\":1,\"a\":\"auth\",\"b\":{\"cred\":\"%s\"}}}", token);
    await_answer(&inbox, 1);
    return inbox;
}
