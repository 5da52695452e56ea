/*
 * One update that reaches thousands: a post, and an entry in the timeline of everybody who follows.
 *
 *     timelines  --clients followers, each connected, signed in and listening to a timeline of its
 *                own; the author sends --messages posts, one update of clients + 1 paths each, in
 *                segments: ms from before the first `send` to the answer, and to the last follower.
 *                Fails unless each follower got exactly one message for each post.
 *     followers  the same followers, of another user who sends the --messages posts: tells when all
 *                listen, and after each post the time at which the last of them had it.
 */
#define _GNU_SOURCE
#include "load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum {
    EVENTS_MAX = 512,
    /* At least the bytes of one entry of the update. */
    ENTRY_MAX = 192,
    /* Nothing more may come for so long after the last delivery. */
    QUIET_MS = 100,
};

static const char author[] = "author-of-the-post-0000000001";

typedef struct {
    const options *options;
    /* What the timelines stand below: a key of the root. */
    const char *place;
    inbox writer;
    inbox *followers;
    /* Messages that each follower got for the post under way. */
    int *heard;
    int epoll;
    char *text;
    /* The request under way, and when its answer came, or 0. */
    long request;
    uint64_t answered_at;
    samples answers, deliveries;
} timelines;

static void put_followers(timelines *run) {
    inbox owner = log_in_as(&run->options->target, "owner");
    size_t count = (size_t)sprintf(
        run->text, "{\"t\":\"d\",\"d\":{\"r\":2,\"a\":\"p\",\"b\":{\"p\":\"/followers/%s\",\"d\":{", author);
    for (int index = 0; index < run->options->clients; index++) {
        count += (size_t)sprintf(run->text + count, "%s\"u%d\":true", index ? "," : "", index);
    }
    count += (size_t)sprintf(run->text + count, "}}}}");
    send_message(owner.socket, run->text, count);
    await_answer(&owner, 2);
    close(owner.socket);
}

static void watch(timelines *run, int socket, int index) {
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)index};
    if (epoll_ctl(run->epoll, EPOLL_CTL_ADD, socket, &event) != 0) die("epoll_ctl");
}

static void connect_followers(timelines *run) {
    for (int index = 0; index < run->options->clients; index++) {
        char user[32];
        snprintf(user, sizeof user, "u%d", index);
        run->followers[index] = log_in_as(&run->options->target, user);
        inbox *follower = &run->followers[index];
        send_request(
            follower->socket,
            "{\"t\":\"d\",\"d\":{\"r\":2,\"a\":\"q\",\"b\":{\"p\":\"/%s/u%d\",\"h\":\"\"}}}",
            run->place, index);
        await_answer(follower, 2);
        watch(run, follower->socket, index);
    }
}

static size_t make_post(timelines *run, long number) {
    char key[64];
    /* Of this run alone: an entry that is there already may not be written again. */
    snprintf(key, sizeof key, "-N%05d%013ld", getpid() % 100000, number);
    long at = 1712000000000 + number;
    size_t count = (size_t)sprintf(
        run->text,
        "{\"t\":\"d\",\"d\":{\"r\":%ld,\"a\":\"m\",\"b\":{\"p\":\"/\",\"d\":{\"posts/%s\":{\"author\":\"%s\","
        "\"text\":\"What a day; we walked all the way up to the lake and back again.\",\"at\":%ld}",
        number + 2, key, author, at);
    for (int index = 0; index < run->options->clients; index++) {
        count += (size_t)sprintf(
            run->text + count, ",\"timelines/u%d/%s\":{\"author\":\"%s\",\"at\":%ld}", index, key,
            author, at);
    }
    return count + (size_t)sprintf(run->text + count, "}}}}");
}

/* Counts what has come for one follower, which must concern its own timeline and nothing else. */
static long hear(timelines *run, int index) {
    char path[64];
    long messages = 0;
    size_t count = (size_t)snprintf(path, sizeof path, "\"p\":\"%s/u%d", run->place, index);
    while (fill_inbox(&run->followers[index])) {
        frame frame;
        while ((frame = next_frame(&run->followers[index])).text != NULL) {
            const char *found = find_in(frame, path);
            errno = 0;
            if (!found || (found[count] != '"' && found[count] != '/')) {
                die("a follower got what concerns another");
            }
            run->heard[index]++;
            messages++;
        }
    }
    return messages;
}

/* Lets all who have something hear it; returns the number of followers' messages. */
static long hear_all(timelines *run, int timeout) {
    struct epoll_event events[EVENTS_MAX];
    long messages = 0;
    int ready = epoll_wait(run->epoll, events, EVENTS_MAX, timeout);
    for (int index = 0; index < ready; index++) {
        int follower = (int)events[index].data.u32;
        if (follower < run->options->clients) {
            messages += hear(run, follower);
            continue;
        }
        while (fill_inbox(&run->writer)) continue;
        frame frame;
        while ((frame = next_frame(&run->writer)).text != NULL) {
            if (is_answer(frame, run->request)) run->answered_at = now_ns();
        }
    }
    return messages;
}

static void publish(timelines *run, long number) {
    int clients = run->options->clients;
    run->request = number + 2;
    run->answered_at = 0;
    size_t count = make_post(run, number);
    memset(run->heard, 0, sizeof *run->heard * (size_t)clients);
    uint64_t start = now_ns(), last = start;
    send_message(run->writer.socket, run->text, count);
    long received = 0;
    while (received < clients || run->answered_at == 0) {
        long messages = hear_all(run, 100);
        uint64_t now = now_ns();
        if (messages > 0) last = now;
        if (now - last > STALL_SECONDS * 1000000000ull) die("stalled");
        received += messages;
    }
    add_sample(&run->deliveries, last - start);
    add_sample(&run->answers, run->answered_at - start);
    while (hear_all(run, QUIET_MS) > 0) continue;
    for (int index = 0; index < clients; index++) {
        errno = 0;
        if (run->heard[index] != 1) die("a follower did not get exactly one message");
    }
}

static timelines start(const options *options, const char *place) {
    size_t clients = (size_t)options->clients;
    timelines run = {
        .options = options,
        .place = place,
        .followers = calloc(clients, sizeof(inbox)),
        .heard = calloc(clients, sizeof(int)),
        .epoll = epoll_create1(EPOLL_CLOEXEC),
        .text = malloc(ENTRY_MAX * (clients + 8)),
    };
    if (!run.followers || !run.heard || !run.text) die("memory");
    return run;
}

void run_timelines(const options *options) {
    timelines run = start(options, "timelines");
    put_followers(&run);
    connect_followers(&run);
    run.writer = log_in_as(&options->target, author);
    watch(&run, run.writer.socket, options->clients);
    double processor = processor_seconds(options->pid);
    for (long number = 0; number < options->messages; number++) publish(&run, number);
    processor = processor_seconds(options->pid) - processor;
    printf("{\"mode\":\"timelines\",\"followers\":%d,\"posts\":%ld,\"answered_ms\":%.1f,"
           "\"delivered_ms\":%.1f,\"server_ms\":%.1f}\n",
           options->clients, options->messages, sample_us(&run.answers, 0.5) / 1000,
           sample_us(&run.deliveries, 0.5) / 1000, processor * 1e3 / (double)options->messages);
}

void run_followers(const options *options) {
    timelines run = start(options, "timeline");
    connect_followers(&run);
    printf("{\"mode\":\"followers\",\"listening\":%d}\n", options->clients);
    fflush(stdout);
    for (long number = 0; number < options->messages; number++) {
        memset(run.heard, 0, sizeof *run.heard * (size_t)options->clients);
        /* Another process decides when the post is sent. */
        long received = hear_all(&run, -1);
        uint64_t last = now_ns();
        while (received < options->clients) {
            long messages = hear_all(&run, 100);
            uint64_t now = now_ns();
            if (messages > 0) last = now;
            if (now - last > STALL_SECONDS * 1000000000ull) die("stalled");
            received += messages;
        }
        for (int index = 0; index < options->clients; index++) {
            errno = 0;
            if (run.heard[index] != 1) die("a follower did not get exactly one message");
        }
        printf("{\"mode\":\"followers\",\"last_ns\":%llu}\n", (unsigned long long)last);
        fflush(stdout);
    }
}
