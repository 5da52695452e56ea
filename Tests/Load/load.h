/* What the load driver's two halves share: the protocols know nothing of the measurements. */
#ifndef HEARTH_LOAD_H
#define HEARTH_LOAD_H

#include <stddef.h>
#include <stdint.h>

enum {
    /* Largest request made, with its frame around it. */
    REQUEST_MAX = 8192,
    /* Bytes of a chat message's JSON; the smaller one leaves just room for the stamp. */
    PAYLOAD_MIN = 104,
    PAYLOAD_MAX = 4096,
};

/* HEARTH is the Realtime Database protocol over WebSocket; REDIS is what figures are held against. */
typedef enum { HEARTH, REDIS } protocol;

/* Where and how to speak; set once from the command line. */
typedef struct {
    protocol protocol;
    int port;
    /* The listened path or channel, and the path that writes go below. */
    const char *topic;
    /* Bytes of JSON of each message. */
    int payload;
    /* Distinct children written by fan-out; later messages replace earlier ones. */
    long rotation;
} target;

/* Nanoseconds of a clock that never goes back. */
uint64_t now_ns(void);

/* Ends the driver with a message; every failure of a connection is one. */
_Noreturn void die(const char *what);

void send_all(int socket, const void *bytes, size_t count);

/* Connects and says hello; returns a socket that still blocks. */
int log_in(const target *target);

/* Listens on the topic and waits until the server has confirmed. */
void subscribe(const target *target, int socket);

/* What marks one delivered message; 16 hexadecimal digits of `now_ns` follow. */
#define STAMP_MARK "@T"
enum { STAMP_DIGITS = 16 };

/* What marks the answer to one acknowledged write. */
const char *acknowledgement(const target *target);

/* Makes a message for all listeners of the topic. Returns its byte count. */
size_t make_publish(const target *target, char *out, long number, uint64_t stamp);

/* Makes a durable write of a key of its own, 20 characters like a push ID. */
size_t make_write(const target *target, char *out, int client, long number);

#endif
