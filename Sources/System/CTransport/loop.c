// The loop itself: libuv run by us, libwebsockets attached to it as a foreign loop.
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct hearth_signal {
    uv_signal_t handle;
    hearth_loop *loop;
    hearth_signal *next;
};

static void ended(uv_async_t *handle) { (void)handle; }

// libuv runs a due timer before it waits for the network, and would then wait for the network alone. Stopping ends
// this tick without waiting, so that the alarm's work is done.
static void rang(uv_timer_t *handle) { uv_stop(handle->loop); }

static void signalled(uv_signal_t *handle, int number) {
    hearth_loop *loop = handle->data;
    loop->callbacks.signalled(number);
}

// libwebsockets sizes a table by this limit, so an absurdly high one is lowered too.
static void raise_descriptor_limit(int wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit)) return;
    limit.rlim_cur = (rlim_t)wanted < limit.rlim_max ? (rlim_t)wanted : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (getrlimit(RLIMIT_NOFILE, &limit)) return;
    // The system makes its table of descriptors larger as they come. While a process has threads, that takes some 10 ms
    // each time, in an accept. So it is made large enough at once.
    int last = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, (int)limit.rlim_cur - 1);
    if (last >= 0) close(last);
}

static struct lws_context *create_context(hearth_loop *loop, char *reason) {
    loop->protocols[0].name = "hearth";
    loop->protocols[0].callback = hearth_lws_callback;
    loop->foreign[0] = &loop->uv;
    struct lws_context_creation_info info;
    memset(&info, 0, sizeof info);
    info.port = CONTEXT_PORT_NO_LISTEN;
    info.options = LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_LIBUV;
    info.foreign_loops = loop->foreign;
    // Our own deadlines end sooner; this one bounds those that we might forget.
    info.timeout_secs = 3600;
    info.gid = -1;
    info.uid = -1;
    info.user = loop;
    struct lws_context *context = lws_create_context(&info);
    if (!context)
        snprintf(reason, HEARTH_REASON_SIZE,
                 "libwebsockets could not start on libuv (is libwebsockets-evlib-uv installed?)");
    return context;
}

static struct lws_vhost *create_vhost(hearth_loop *loop) {
    struct lws_context_creation_info info;
    memset(&info, 0, sizeof info);
    info.port = CONTEXT_PORT_NO_LISTEN_SERVER;
    info.protocols = loop->protocols;
    info.gid = -1;
    info.uid = -1;
    info.user = loop;
    info.vhost_name = "hearth";
    return lws_create_vhost(loop->context, &info);
}

hearth_loop *hearth_loop_create(const hearth_callbacks *callbacks, int descriptor_limit,
                                char reason[HEARTH_REASON_SIZE]) {
    signal(SIGPIPE, SIG_IGN);
    raise_descriptor_limit(descriptor_limit);
    hearth_loop *loop = calloc(1, sizeof *loop);
    if (!loop) {
        snprintf(reason, HEARTH_REASON_SIZE, "out of memory");
        return NULL;
    }
    loop->callbacks = *callbacks;
    int failure = uv_loop_init(&loop->uv);
    if (!failure) failure = uv_async_init(&loop->uv, &loop->wake, ended);
    if (!failure) failure = uv_timer_init(&loop->uv, &loop->alarm);
    if (failure) {
        snprintf(reason, HEARTH_REASON_SIZE, "libuv: %s", uv_strerror(failure));
        free(loop);
        return NULL;
    }
    loop->context = create_context(loop, reason);
    if (loop->context) {
        loop->vhost = create_vhost(loop);
        if (loop->vhost && hearth_serving_prepare(loop)) return loop;
        snprintf(reason, HEARTH_REASON_SIZE, "libwebsockets could not watch sockets");
    }
    hearth_loop_destroy(loop);
    return NULL;
}

int hearth_loop_tick(hearth_loop *loop, bool may_wait) {
    loop->served_count = 0;
    bool waits = may_wait && !hearth_serving_is_behind(loop);
    uv_run(&loop->uv, waits ? UV_RUN_ONCE : UV_RUN_NOWAIT);
    hearth_serving_run(loop);
    return loop->served_count;
}

void hearth_loop_wake(hearth_loop *loop) { uv_async_send(&loop->wake); }

void hearth_loop_set_alarm(hearth_loop *loop, int64_t milliseconds) {
    if (milliseconds < 0) {
        uv_timer_stop(&loop->alarm);
        return;
    }
    uv_update_time(&loop->uv);
    uv_timer_start(&loop->alarm, rang, (uint64_t)milliseconds, 0);
}

int hearth_loop_on_signal(hearth_loop *loop, int number) {
    hearth_signal *entry = calloc(1, sizeof *entry);
    if (!entry) return ENOMEM;
    int failure = uv_signal_init(&loop->uv, &entry->handle);
    if (failure) {
        free(entry);
        return -failure;
    }
    entry->handle.data = loop;
    entry->loop = loop;
    entry->next = loop->signals;
    loop->signals = entry;
    return -uv_signal_start(&entry->handle, signalled, number);
}

static void close_left_over(uv_handle_t *handle, void *count) {
    if (uv_is_closing(handle)) return;
    *(int *)count += 1;
}

int hearth_loop_destroy(hearth_loop *loop) {
    if (loop->context) lws_context_destroy(loop->context);
    uv_close((uv_handle_t *)&loop->wake, NULL);
    uv_close((uv_handle_t *)&loop->alarm, NULL);
    for (hearth_signal *entry = loop->signals; entry; entry = entry->next)
        uv_close((uv_handle_t *)&entry->handle, NULL);
    // Handles are closed by callbacks of the loop; each pass may close more.
    for (int pass = 0; pass < 64 && uv_loop_alive(&loop->uv); pass++) uv_run(&loop->uv, UV_RUN_NOWAIT);
    // On a foreign loop the first destroy only closes; the memory goes with a second one.
    if (loop->context) lws_context_destroy(loop->context);
    int left = 0;
    uv_walk(&loop->uv, close_left_over, &left);
    if (uv_loop_close(&loop->uv)) return left ? left : 1;
    while (loop->signals) {
        hearth_signal *entry = loop->signals;
        loop->signals = entry->next;
        free(entry);
    }
    free(loop);
    return 0;
}

static void (*log_sink)(int level, const char *line);

static void emit(int level, const char *line) {
    if (log_sink) log_sink(level == LLL_ERR ? 1 : 2, line);
}

void hearth_set_log(void (*sink)(int level, const char *line)) {
    log_sink = sink;
    lws_set_log_level(LLL_ERR | LLL_WARN, emit);
}

void hearth_websocket_accept(const char *key, size_t key_byte_count, char out[29]) {
    static const char suffix[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    unsigned char text[64 + sizeof suffix], digest[20];
    if (key_byte_count > 64) key_byte_count = 64;
    memcpy(text, key, key_byte_count);
    memcpy(text + key_byte_count, suffix, sizeof suffix - 1);
    lws_SHA1(text, key_byte_count + sizeof suffix - 1, digest);
    lws_b64_encode_string((const char *)digest, sizeof digest, out, 29);
}

// Left alone, malloc raises both with the largest block that was ever freed, up to 32 and 64 MiB, and keeps as much for
// each thread that allocates.
void hearth_bound_free_memory(void) {
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 4 << 20);
}

void hearth_return_memory(void) { malloc_trim(0); }
