/*
 * Queries on one list of many children: first build, then use of an index, and commits under it.
 *
 *     indexed    the list --topic was filled by `fill`, and no index of it exists yet. One client's
 *                first query by `timestamp` builds the index; meanwhile a probe writes elsewhere,
 *                one put at a time, as it did for --seconds before. Then --messages rounds of: the
 *                first 50 children, a page of 50 that ends before a key, and the children equal
 *                to one value; each a listen of its own, answered and ended.
 *     filtered   --clients connections with --listens each, all of different queries by `timestamp`
 *                on the list; --messages puts that all of them hear, one by one: ms from before the
 *                `send` to the answer and to the last listener; then as many that none hears.
 */
#define _GNU_SOURCE
#include "load.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    EVENTS_MAX = 512,
    PAGE = 50,
};

/* `timestamp` of the first message of a list; that of number n is n more. */
static const long first_timestamp = 1712000000000;

/* MARK: Building an index and using it */

/* Puts of a client that has nothing to do with the list, one at a time. */
typedef struct {
    inbox inbox;
    long number;
    uint64_t sent_at;
} probe;

static void send_probe(probe *probe) {
    probe->number++;
    probe->sent_at = now_ns();
    send_request(
        probe->inbox.socket,
        "{\"t\":\"d\",\"d\":{\"r\":%ld,\"a\":\"p\",\"b\":{\"p\":\"/probe/m\",\"d\":{\"content\":\"%ld\","
        "\"timestamp\":1,\"sender\":{\"uid\":\"u\",\"username\":\"n\"}}}}}",
        probe->number, probe->number);
}

/* Notes how long the put under way took, if it is answered, and sends the next. */
static void follow_probe(probe *probe, samples *samples) {
    while (fill_inbox(&probe->inbox)) continue;
    frame frame;
    while ((frame = next_frame(&probe->inbox)).text != NULL) {
        if (!is_answer(frame, probe->number)) continue;
        add_sample(samples, now_ns() - probe->sent_at);
        send_probe(probe);
    }
}

static void probe_for(probe *probe, double seconds, samples *samples) {
    uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
    while (now_ns() < end) {
        struct pollfd readable = {.fd = probe->inbox.socket, .events = POLLIN};
        poll(&readable, 1, 10);
        follow_probe(probe, samples);
    }
}

/* Sends a listen whose query is `query`; its tag is its number. */
static void send_listen(const target *target, int socket, long number, const char *query) {
    send_request(
        socket,
        "{\"t\":\"d\",\"d\":{\"r\":%ld,\"a\":\"q\",\"b\":{\"p\":\"/%s\",\"q\":%s,\"t\":%ld,\"h\":\"\"}}}",
        number, target->topic, query, number);
}

static void end_listen(const target *target, inbox *inbox, long number, const char *query) {
    send_request(
        inbox->socket,
        "{\"t\":\"d\",\"d\":{\"r\":%ld,\"a\":\"n\",\"b\":{\"p\":\"/%s\",\"q\":%s,\"t\":%ld}}}", number + 1,
        target->topic, query, number);
    await_answer(inbox, number + 1);
}

static long count_in(frame frame, const char *mark) {
    long count = 0;
    for (const char *found; (found = find_in(frame, mark)) != NULL; count++) {
        size_t used = (size_t)(found - frame.text) + strlen(mark);
        frame.text += used;
        frame.count -= used;
    }
    return count;
}

/* One listen: until its answer, before which came its children, `wanted` of them. */
static void time_listen(
    const target *target, inbox *inbox, long number, const char *query, long wanted,
    samples *samples) {
    long children = 0;
    uint64_t start = now_ns();
    send_listen(target, inbox->socket, number, query);
    for (int is_answered = 0; !is_answered;) {
        struct pollfd readable = {.fd = inbox->socket, .events = POLLIN};
        if (poll(&readable, 1, STALL_SECONDS * 1000) == 0) die("stalled");
        while (fill_inbox(inbox)) continue;
        frame frame;
        while ((frame = next_frame(inbox)).text != NULL) {
            children += count_in(frame, "\"timestamp\":");
            is_answered |= is_answer(frame, number);
        }
    }
    add_sample(samples, now_ns() - start);
    errno = 0;
    if (children != wanted) {
        fprintf(stderr, "rtload: %ld children for %s\n", children, query);
        die("a query did not give what it should");
    }
    end_listen(target, inbox, number, query);
}

/*
 * The first query by `timestamp`, with the probe beside it; returns how long it took, in ms. The
 * listen stays, so that the index does.
 */
static double build_index(const options *options, inbox *inbox, probe *probe, samples *during) {
    char query[64];
    snprintf(query, sizeof query, "{\"i\":\"timestamp\",\"l\":%d,\"vf\":\"l\"}", PAGE);
    uint64_t start = now_ns(), end = 0;
    send_listen(&options->target, inbox->socket, 2, query);
    while (end == 0) {
        struct pollfd readable[2] = {
            {.fd = inbox->socket, .events = POLLIN}, {.fd = probe->inbox.socket, .events = POLLIN},
        };
        if (poll(readable, 2, STALL_SECONDS * 1000) == 0) die("stalled");
        if (readable[1].revents) follow_probe(probe, during);
        while (readable[0].revents && fill_inbox(inbox)) continue;
        frame frame;
        while ((frame = next_frame(inbox)).text != NULL) {
            if (is_answer(frame, 2)) end = now_ns();
        }
    }
    return (double)(end - start) / 1e6;
}

void run_indexed(const options *options) {
    const target *target = &options->target;
    inbox inbox = log_in_as(target, "owner");
    probe probe = {.inbox = log_in_as(target, "owner"), .number = 1};
    samples quiet = {0}, during = {0}, first = {0}, page = {0}, equal = {0};
    send_probe(&probe);
    probe_for(&probe, options->seconds, &quiet);
    double built = build_index(options, &inbox, &probe, &during);
    char query[128];
    for (long round = 0; round < options->messages; round++) {
        /* Different bounds below all children, so that no two rounds are one query. */
        snprintf(
            query, sizeof query, "{\"i\":\"timestamp\",\"sp\":%ld,\"l\":%d,\"vf\":\"l\"}", round, PAGE);
        time_listen(target, &inbox, 3 + 6 * round, query, PAGE, &first);
        long place = first_timestamp + 1000 + round * 997;
        snprintf(
            query, sizeof query,
            "{\"i\":\"timestamp\",\"ep\":%ld,\"ein\":false,\"l\":%d,\"vf\":\"r\"}", place, PAGE);
        time_listen(target, &inbox, 5 + 6 * round, query, PAGE, &page);
        snprintf(
            query, sizeof query, "{\"i\":\"timestamp\",\"sp\":%ld,\"ep\":%ld}", place, place);
        time_listen(target, &inbox, 7 + 6 * round, query, 1, &equal);
    }
    printf("{\"mode\":\"indexed\",\"built_ms\":%.1f,\"probe_quiet_p99_us\":%.1f,"
           "\"probe_p99_us\":%.1f,\"probe_max_us\":%.1f,\"first_us\":%.1f,\"first_p99_us\":%.1f,"
           "\"page_us\":%.1f,\"equal_us\":%.1f}\n",
           built, sample_us(&quiet, 0.99), sample_us(&during, 0.99), sample_us(&during, 1),
           sample_us(&first, 0.5), sample_us(&first, 0.99), sample_us(&page, 0.5),
           sample_us(&equal, 0.5));
}

/* MARK: Many different queries on one list */

typedef struct {
    const options *options;
    inbox writer;
    inbox *listeners;
    int epoll;
    long request;
    uint64_t answered_at;
} filtered;

static void watch(filtered *run, int socket, int index) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)index};
    if (epoll_ctl(run->epoll, EPOLL_CTL_ADD, socket, &event) != 0) die("epoll_ctl");
}

/* Each listen sees the ten highest timestamps from a place of its own on. */
static void connect_listeners(filtered *run) {
    int listens = run->options->listens;
    for (int index = 0; index < run->options->clients; index++) {
        run->listeners[index] = log_in_as(&run->options->target, "owner");
        inbox *listener = &run->listeners[index];
        for (int number = 0; number < listens; number++) {
            char query[96];
            snprintf(
                query, sizeof query, "{\"i\":\"timestamp\",\"sp\":%d,\"l\":10,\"vf\":\"r\"}",
                index * listens + number);
            send_listen(&run->options->target, listener->socket, 2 + number, query);
            await_answer(listener, 2 + number);
        }
        watch(run, listener->socket, index);
    }
}

/* Lets all who have something hear it; returns how many listeners' messages came. */
static long hear_all(filtered *run, int timeout) {
    struct epoll_event events[EVENTS_MAX];
    long messages = 0;
    int ready = epoll_wait(run->epoll, events, EVENTS_MAX, timeout);
    for (int index = 0; index < ready; index++) {
        int number = (int)events[index].data.u32;
        int is_writer = number == run->options->clients;
        inbox *inbox = is_writer ? &run->writer : &run->listeners[number];
        while (fill_inbox(inbox)) continue;
        frame frame;
        while ((frame = next_frame(inbox)).text != NULL) {
            if (!is_writer) messages++;
            else if (is_answer(frame, run->request)) run->answered_at = now_ns();
        }
    }
    return messages;
}

/* One put of a child with a timestamp; until `wanted` messages and the answer have come. */
static void time_put(filtered *run, long timestamp, long wanted, samples *heard, samples *answers) {
    run->request++;
    run->answered_at = 0;
    long received = 0;
    uint64_t start = now_ns(), last = start;
    send_request(
        run->writer.socket,
        "{\"t\":\"d\",\"d\":{\"r\":%ld,\"a\":\"p\",\"b\":{\"p\":\"/%s/-Nfiltered%d-%ld\",\"d\":{\"content\":"
        "\"the quick brown fox\",\"timestamp\":%ld,\"sender\":{\"uid\":\"u\",\"username\":\"n\"}}}}}",
        run->request, run->options->target.topic, getpid(), run->request, timestamp);
    while (received < wanted || run->answered_at == 0) {
        long messages = hear_all(run, 100);
        uint64_t now = now_ns();
        if (messages > 0) last = now;
        received += messages;
        if (now - last > STALL_SECONDS * 1000000000ull) die("stalled");
    }
    add_sample(heard, last - start);
    add_sample(answers, run->answered_at - start);
    errno = 0;
    if (received != wanted) die("a listener got more than one message for a put");
}

void run_filtered(const options *options) {
    filtered run = {
        .options = options,
        .listeners = calloc((size_t)options->clients, sizeof(inbox)),
        .epoll = epoll_create1(EPOLL_CLOEXEC),
        .request = 1,
    };
    if (!run.listeners) die("memory");
    connect_listeners(&run);
    run.writer = log_in_as(&options->target, "owner");
    watch(&run, run.writer.socket, options->clients);
    samples heard = {0}, answers = {0}, unheard = {0}, unheard_answers = {0};
    double processor = processor_seconds(options->pid);
    for (long round = 0; round < options->messages; round++) {
        /* After all that there are, of earlier runs too: it enters every window and one leaves. */
        long timestamp = 2 * first_timestamp + (long)(now_ns() / 1000);
        time_put(&run, timestamp, options->clients * options->listens, &heard, &answers);
    }
    double hearing = processor_seconds(options->pid) - processor;
    for (long round = 0; round < options->messages; round++) {
        time_put(&run, first_timestamp + round, 0, &unheard, &unheard_answers);
    }
    double per_put = hearing * 1e3 / (double)options->messages;
    printf("{\"mode\":\"filtered\",\"listens\":%d,\"puts\":%ld,\"heard_ms\":%.2f,"
           "\"answered_ms\":%.2f,\"server_ms\":%.2f,\"unheard_answered_ms\":%.2f}\n",
           options->clients * options->listens, options->messages, sample_us(&heard, 0.5) / 1000,
           sample_us(&answers, 0.5) / 1000, per_put, sample_us(&unheard_answers, 0.5) / 1000);
}
