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
    /* A run that makes no progress for so long fails. */
    STALL_SECONDS = 15,
};

/* HEARTH is the Realtime Database protocol over WebSocket, REST its HTTP side, with event streams for
 * listeners; REDIS is what figures are held against. */
typedef enum { HEARTH, REST, REDIS } protocol;

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

/* What a run was asked to do. */
typedef struct {
    target target;
    int clients;
    /* Of each client. */
    int listens;
    long messages;
    int window;
    double rate;
    double seconds;
    /* The server's process, or 0. */
    int pid;
} options;

/* Nanoseconds of a clock that never goes back. */
uint64_t now_ns(void);

/* Ends the driver with a message; every failure of a connection is one. */
_Noreturn void die(const char *what);

void send_all(int socket, const void *bytes, size_t count);

/* Connects and says hello, where the protocol has one; returns a socket that still blocks. */
int log_in(const target *target);

/* Listens on the topic and waits until the server has confirmed. */
void subscribe(const target *target, int socket);

/* What marks one delivered message; 16 hexadecimal digits of `now_ns` follow. */
#define STAMP_MARK "@T"
enum { STAMP_DIGITS = 16 };

/* What marks the answer to one acknowledged write, or to one read. */
const char *acknowledgement(const target *target);

/* Makes a message for all listeners of the topic. Returns its byte count. */
size_t make_publish(const target *target, char *out, long number, uint64_t stamp);

/* Makes a read of the topic; REST only. */
size_t make_read(const target *target, char *out);

/* Makes a durable write of a key of its own, 20 characters like a push ID. */
size_t make_write(const target *target, char *out, int client, long number);

/* Bytes at most around the text of a frame. */
enum { FRAME_HEAD_MAX = 14 };

/* Makes a masked text frame (RFC 6455, 5.2) with a mask of zeros, which leaves the text as
 * it is; at most 65535 bytes of text. */
size_t make_frame(char *out, const char *text, size_t count);

/* MARK: Figures */

/* Durations in tenths of a microsecond; zeroed, it is empty. */
typedef struct {
    uint32_t *values;
    size_t count, capacity;
} samples;

void add_sample(samples *samples, uint64_t nanoseconds);

/* The duration that `share` of the samples, 0 to 1, do not exceed, in microseconds. */
double sample_us(samples *samples, double share);

/* Processor time of a process and all its threads, in seconds; 0 without a process. */
double processor_seconds(int pid);

/* Bytes of a process that are in memory. */
double resident_bytes(int pid);

/* MARK: Whole messages */

/* What has come on a connection and is not used up. */
typedef struct {
    int socket;
    char *bytes;
    size_t first, count, capacity;
} inbox;

/* Takes what the socket has; false when that was nothing. */
int fill_inbox(inbox *inbox);

/* The text of a frame, lent until the next call with the same inbox; NULL is no frame. */
typedef struct {
    const char *text;
    size_t count;
} frame;

/* The next frame that is whole. */
frame next_frame(inbox *inbox);

/* Where `mark` stands in a frame, or NULL. */
const char *find_in(frame frame, const char *mark);

/* Whether a frame is the answer to request `number`; ends the driver if it is a refusal. */
int is_answer(frame frame, long number);

/* Waits for the answer to request `number`; other frames are dropped. */
void await_answer(inbox *inbox, long number);

/* Sends one message, in segments as the clients of the protocol do. */
void send_message(int socket, const char *text, size_t count);

/* Sends one message made as by printf, at most REQUEST_MAX bytes. */
void send_request(int socket, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Connects, and tells a server in development mode to be this user; "owner" is above all rules. */
inbox log_in_as(const target *target, const char *user);

/* MARK: Modes with sources of their own */

void run_timelines(const options *options);
void run_followers(const options *options);
void run_indexed(const options *options);
void run_filtered(const options *options);

#endif
