/*
 * rtload: load for a realtime server, one thread, many connections. Prints one line of JSON a run.
 *
 *     rtload MODE hearth|rest|redis PORT [OPTION VALUE]...
 *
 *     fanout   one writer, --clients listeners, --messages with --window of them under way:
 *              deliveries/s; the server's processor time for each with --pid
 *     latency  one writer at --rate messages/s for --seconds, --clients listeners: write -> listener
 *     write    --clients writers, each waiting for its answer, for --seconds: acknowledged writes/s
 *     read     the same with reads of --topic; rest only, and any server of static files. With --rate
 *              all clients together begin so many a second at most, each waiting for its answer
 *     fill     one writer, --messages of its own keys, 512 under way
 *     idle     --clients listeners that hear nothing: resident bytes of --pid for each, and its
 *              processor time over --seconds
 *     timelines, indexed, filtered: see timelines.c and queries.c
 *
 * Other options: --topic NAME, --payload BYTES (104 to 4096), --rotation CHILDREN.
 * A run that makes no progress for 15 s fails. Compare medians and ratios of several interleaved
 * runs on one machine, never single figures: the driver takes its share of the same processors.
 */
#define _GNU_SOURCE
#include "load.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    EVENTS_MAX = 512,
    FILL_DEPTH = 512,
    BUFFER_SIZE = 1 << 20,
    /* Room kept free behind what one turn puts into the send buffer. */
    SEND_BUFFER = 1 << 17,
    SEND_FULL = SEND_BUFFER - REQUEST_MAX,
};

typedef struct {
    int socket;
    /* What may be the beginning of a mark that is cut by the end of a read. */
    char rest[64];
    size_t rest_count;
    long sent_count;
    /* When the requests that are not answered yet were sent: a ring. */
    uint64_t *sent_at;
    int first, last;
} client;

/* From write to listener, or from write to answer. */
static samples latencies;

/* MARK: Reading */

static uint64_t stamp_after(const char *mark) {
    char digits[STAMP_DIGITS + 1] = {0};
    memcpy(digits, mark + strlen(STAMP_MARK), STAMP_DIGITS);
    return strtoull(digits, NULL, 16);
}

/* Reads what has come and counts the marks in it; records latencies where stamps follow. */
static long count_marks(client *client, const char *mark, int is_stamped) {
    static char buffer[BUFFER_SIZE];
    size_t length = strlen(mark), wanted = length + (is_stamped ? STAMP_DIGITS : 0);
    long marks = 0;
    for (;;) {
        memcpy(buffer, client->rest, client->rest_count);
        ssize_t got = recv(
            client->socket, buffer + client->rest_count, sizeof buffer - client->rest_count,
            MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return marks;
        if (got <= 0) die("the server closed a connection");
        uint64_t now = now_ns();
        size_t count = client->rest_count + (size_t)got, used = 0;
        const char *found;
        while ((found = memmem(buffer + used, count - used, mark, length)) != NULL) {
            size_t offset = (size_t)(found - buffer);
            if (offset + wanted > count) break;
            if (is_stamped) {
                uint64_t stamp = stamp_after(found);
                if (stamp != 0 && stamp <= now) add_sample(&latencies, now - stamp);
            }
            marks++;
            used = offset + wanted;
        }
        /* Shorter than one whole mark, so that none is counted twice. */
        size_t rest = count - used < wanted - 1 ? count - used : wanted - 1;
        memcpy(client->rest, buffer + count - rest, rest);
        client->rest_count = rest;
        if ((size_t)got < sizeof buffer / 2) return marks;
    }
}

/* MARK: Fan-out and latency */

typedef struct {
    client *listeners;
    client writer;
    int epoll;
} audience;

static void watch(int epoll, int socket, int index) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)index};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, socket, &event) != 0) die("epoll_ctl");
}

static audience gather(const options *options) {
    audience audience = {.epoll = epoll_create1(EPOLL_CLOEXEC)};
    audience.listeners = calloc((size_t)options->clients, sizeof(client));
    if (!audience.listeners) die("memory");
    for (int index = 0; index < options->clients; index++) {
        int socket = log_in(&options->target);
        audience.listeners[index].socket = socket;
        subscribe(&options->target, socket);
        watch(audience.epoll, socket, index);
    }
    audience.writer.socket = log_in(&options->target);
    usleep(300000);
    for (int index = 0; index < options->clients; index++) {
        count_marks(&audience.listeners[index], STAMP_MARK, 1);
    }
    latencies.count = 0;
    return audience;
}

/* Sends what the window allows. */
static void publish_window(const options *options, client *writer, long received) {
    static char out[SEND_BUFFER];
    size_t count = 0;
    long clients = options->clients;
    while (writer->sent_count < options->messages && count < SEND_FULL
           && writer->sent_count * clients - received < options->window * clients) {
        count += make_publish(&options->target, out + count, writer->sent_count++, now_ns());
    }
    if (count > 0) send_all(writer->socket, out, count);
}

/* Sends what is due at the rate; the schedule does not wait for answers. Returns ms to the next. */
static int publish_due(const options *options, client *writer, uint64_t *due) {
    char out[REQUEST_MAX];
    while (writer->sent_count < options->messages && now_ns() >= *due) {
        size_t count = make_publish(&options->target, out, writer->sent_count++, now_ns());
        send_all(writer->socket, out, count);
        *due += (uint64_t)(1e9 / options->rate);
    }
    if (writer->sent_count == options->messages) return 100;
    int64_t left = (int64_t)(*due - now_ns());
    return left > 0 ? (int)(left / 1000000) : 0;
}

static void run_fanout(const options *options, const char *mode) {
    audience audience = gather(options);
    struct epoll_event events[EVENTS_MAX];
    static char answers[65536];
    int is_paced = options->rate > 0;
    long wanted = options->messages * options->clients, received = 0;
    double processor = processor_seconds(options->pid);
    uint64_t start = now_ns(), last = start, due = start;
    while (received < wanted) {
        int timeout = 1;
        if (is_paced) {
            timeout = publish_due(options, &audience.writer, &due);
        } else {
            publish_window(options, &audience.writer, received);
        }
        while (recv(audience.writer.socket, answers, sizeof answers, MSG_DONTWAIT) > 0) continue;
        int ready = epoll_wait(audience.epoll, events, EVENTS_MAX, timeout);
        for (int index = 0; index < ready; index++) {
            received += count_marks(&audience.listeners[events[index].data.u32], STAMP_MARK, 1);
        }
        if (ready > 0) last = now_ns();
        if (now_ns() - last > STALL_SECONDS * 1000000000ull) die("stalled");
    }
    double seconds = (double)(last - start) / 1e9;
    processor = processor_seconds(options->pid) - processor;
    printf("{\"mode\":\"%s\",\"listeners\":%d,\"messages\":%ld,\"window\":%d,\"deliveries\":%ld,"
           "\"seconds\":%.3f,\"deliveries_per_s\":%.0f,\"server_us_per_delivery\":%.3f,"
           "\"p50_us\":%.1f,\"p99_us\":%.1f}\n",
           mode, options->clients, options->messages, options->window, received, seconds,
           (double)received / seconds, processor * 1e6 / (double)received, sample_us(&latencies, 0.5),
           sample_us(&latencies, 0.99));
}

/* MARK: Acknowledged writes */

/* Writes, or reads where `is_read` says so. */
static int is_read;

static void send_writes(const options *options, client *client, int number, long count, int depth) {
    static char out[SEND_BUFFER];
    size_t byte_count = 0;
    for (long index = 0; index < count; index++) {
        byte_count += is_read
            ? make_read(&options->target, out + byte_count)
            : make_write(&options->target, out + byte_count, number, client->sent_count);
        client->sent_count++;
        client->sent_at[client->last] = now_ns();
        client->last = (client->last + 1) % (depth + 1);
        if (byte_count > SEND_FULL) {
            send_all(client->socket, out, byte_count);
            byte_count = 0;
        }
    }
    if (byte_count > 0) send_all(client->socket, out, byte_count);
}

static client *make_writers(const options *options, int epoll, int depth) {
    client *writers = calloc((size_t)options->clients, sizeof *writers);
    if (!writers) die("memory");
    for (int index = 0; index < options->clients; index++) {
        writers[index].socket = log_in(&options->target);
        writers[index].sent_at = malloc(sizeof(uint64_t) * (size_t)(depth + 1));
        if (!writers[index].sent_at) die("memory");
        watch(epoll, writers[index].socket, index);
    }
    return writers;
}

/* Begins what is due by `due`, in turn by clients that wait for no answer. Returns how many were begun. */
static long send_due(const options *options, client *writers, long sent, long due, int depth) {
    static int next;
    long begun = 0;
    for (int index = 0; index < options->clients && sent + begun < due; index++) {
        int number = next;
        next = (next + 1) % options->clients;
        if (writers[number].first != writers[number].last) continue;
        send_writes(options, &writers[number], number, 1, depth);
        begun++;
    }
    return begun;
}

/* Writes until the time is over, or until `messages` are answered where that is not 0. */
static void run_writes(const options *options, const char *mode, int depth) {
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    client *writers = make_writers(options, epoll, depth);
    const char *mark = acknowledgement(&options->target);
    struct epoll_event events[EVENTS_MAX];
    double processor = processor_seconds(options->pid);
    uint64_t start = now_ns(), now = start, last = start;
    uint64_t end = options->messages ? UINT64_MAX : start + (uint64_t)(options->seconds * 1e9);
    int is_paced = options->rate > 0;
    long answered = 0, sent = is_paced ? 0 : (long)depth * options->clients;
    for (int index = 0; index < options->clients && !is_paced; index++) {
        send_writes(options, &writers[index], index, depth, depth);
    }
    while (now < end && (options->messages == 0 || answered < options->messages)) {
        int ready = epoll_wait(epoll, events, EVENTS_MAX, is_paced ? 1 : 100);
        now = now_ns();
        if (is_paced) {
            long due = (long)((double)(now - start) / 1e9 * options->rate);
            sent += send_due(options, writers, sent, due, depth);
        }
        if (ready > 0) last = now;
        if (now - last > STALL_SECONDS * 1000000000ull) die("stalled");
        for (int index = 0; index < ready; index++) {
            int number = (int)events[index].data.u32;
            client *writer = &writers[number];
            long answers = count_marks(writer, mark, 0);
            for (long answer = 0; answer < answers; answer++) {
                add_sample(&latencies, now - writer->sent_at[writer->first]);
                writer->first = (writer->first + 1) % (depth + 1);
            }
            answered += answers;
            long more = is_paced ? 0 : answers;
            if (options->messages && sent + more > options->messages) more = options->messages - sent;
            if (more > 0) send_writes(options, writer, number, more, depth);
            sent += more > 0 ? more : 0;
        }
    }
    double seconds = (double)(now_ns() - start) / 1e9;
    processor = processor_seconds(options->pid) - processor;
    printf("{\"mode\":\"%s\",\"writers\":%d,\"depth\":%d,\"writes\":%ld,\"seconds\":%.2f,"
           "\"writes_per_s\":%.0f,\"server_us_per_write\":%.3f,\"p50_us\":%.1f,\"p99_us\":%.1f}\n",
           mode, options->clients, depth, answered, seconds, (double)answered / seconds,
           processor * 1e6 / (double)answered, sample_us(&latencies, 0.5), sample_us(&latencies, 0.99));
}

/* MARK: Idle listeners */

/* The slope from the fifth of the connections to all of them: buffers of the beginning do not count. */
static void run_idle(const options *options) {
    if (options->pid == 0) die("idle needs --pid");
    int fifth = options->clients / 5;
    double early = 0;
    for (int index = 0; index < options->clients; index++) {
        if (index == fifth) {
            usleep(500000);
            early = resident_bytes(options->pid);
        }
        subscribe(&options->target, log_in(&options->target));
    }
    usleep(1000000);
    double bytes = (resident_bytes(options->pid) - early) / (double)(options->clients - fifth);
    double processor = processor_seconds(options->pid);
    usleep((useconds_t)(options->seconds * 1e6));
    processor = processor_seconds(options->pid) - processor;
    printf("{\"mode\":\"idle\",\"listeners\":%d,\"bytes_per_connection\":%.0f,"
           "\"processor_share\":%.4f}\n",
           options->clients, bytes, processor / options->seconds);
}

/* MARK: Command line */

static _Noreturn void explain(const char *fault) {
    fprintf(stderr, "rtload: %s; see the head of rtload.c\n", fault);
    exit(2);
}

static options parse(int argc, char **argv) {
    static const struct option known[] = {
        {"clients", 1, 0, 'c'}, {"messages", 1, 0, 'm'}, {"window", 1, 0, 'w'},
        {"rate", 1, 0, 'r'},    {"seconds", 1, 0, 's'},  {"pid", 1, 0, 'p'},
        {"topic", 1, 0, 't'},   {"payload", 1, 0, 'b'},  {"rotation", 1, 0, 'o'},
        {"listens", 1, 0, 'l'},
        {0, 0, 0, 0},
    };
    options options = {
        .target = {.topic = "bench", .payload = 150, .rotation = 1000},
        .clients = 1, .listens = 1, .window = 1, .seconds = 2,
    };
    if (argc < 4) explain("MODE, the protocol and PORT are needed");
    if (strcmp(argv[2], "hearth") == 0) options.target.protocol = HEARTH;
    else if (strcmp(argv[2], "rest") == 0) options.target.protocol = REST;
    else if (strcmp(argv[2], "redis") == 0) options.target.protocol = REDIS;
    else explain("the protocol is hearth, rest or redis");
    options.target.port = atoi(argv[3]);
    optind = 4;
    int option;
    while ((option = getopt_long(argc, argv, "", known, NULL)) >= 0) {
        switch (option) {
        case 'c': options.clients = atoi(optarg); break;
        case 'm': options.messages = atol(optarg); break;
        case 'w': options.window = atoi(optarg); break;
        case 'r': options.rate = atof(optarg); break;
        case 's': options.seconds = atof(optarg); break;
        case 'p': options.pid = atoi(optarg); break;
        case 't': options.target.topic = optarg; break;
        case 'b': options.target.payload = atoi(optarg); break;
        case 'l': options.listens = atoi(optarg); break;
        case 'o': options.target.rotation = atol(optarg); break;
        default: explain("an option is unknown");
        }
    }
    if (options.target.payload < PAYLOAD_MIN || options.target.payload > PAYLOAD_MAX) {
        explain("--payload is 104 to 4096");
    }
    if (strlen(options.target.topic) > 100) explain("--topic has at most 100 characters");
    if (options.clients < 1 || options.listens < 1 || options.window < 1 || options.seconds <= 0
        || options.target.rotation < 1) {
        explain("numbers are positive");
    }
    return options;
}

int main(int argc, char **argv) {
    options options = parse(argc, argv);
    const char *mode = argv[1];
    if (strcmp(mode, "fanout") == 0) {
        options.rate = 0;
        if (options.messages < 1) explain("fanout needs --messages");
        run_fanout(&options, mode);
    } else if (strcmp(mode, "latency") == 0) {
        if (options.rate <= 0) explain("latency needs --rate");
        options.messages = (long)(options.rate * options.seconds);
        run_fanout(&options, mode);
    } else if (strcmp(mode, "write") == 0) {
        options.messages = 0;
        run_writes(&options, mode, 1);
    } else if (strcmp(mode, "read") == 0) {
        if (options.target.protocol != REST) explain("read speaks rest only");
        options.messages = 0;
        is_read = 1;
        run_writes(&options, mode, 1);
    } else if (strcmp(mode, "fill") == 0) {
        if (options.messages < FILL_DEPTH) explain("fill needs --messages, at least 512");
        options.clients = 1;
        run_writes(&options, mode, FILL_DEPTH);
    } else if (strcmp(mode, "idle") == 0) {
        if (options.clients < 5) explain("idle needs --clients, at least 5");
        run_idle(&options);
    } else if (strcmp(mode, "timelines") == 0) {
        if (options.messages < 1) explain("timelines needs --messages");
        run_timelines(&options);
    } else if (strcmp(mode, "followers") == 0) {
        if (options.messages < 1) explain("followers needs --messages");
        run_followers(&options);
    } else if (strcmp(mode, "indexed") == 0) {
        if (options.messages < 1) explain("indexed needs --messages");
        run_indexed(&options);
    } else if (strcmp(mode, "filtered") == 0) {
        if (options.messages < 1) explain("filtered needs --messages");
        run_filtered(&options);
    } else {
        explain("there is no such MODE");
    }
    return 0;
}
