"""A disk of a server under test that is full, fails, or interrupts: a library laid over the system's."""

import os
import shutil
import subprocess
import time

# Calls on files whose path holds $SHAKY_FOLDER: with $SHAKY_INTERRUPTS every second one fails with EINTR; the
# free space is what the file $SHAKY_FREE says, in MiB, and behind it the size of the disk if that matters.
# $SHAKY_FAIL, "12 EIO", lets the first call of the process that can, from the twelfth on, fail so; "12 short" lets it
# read or write a part. Each call is a line of the file $SHAKY_CALLS: operation, path, what it can meet and what it met.
# While the file $SHAKY_HOLD is there, syncs of paths that have its content in them wait.
SOURCE = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* What a call can meet. */
enum { INPUT_OUTPUT = 1, FULL = 2, FILES = 4, INTERRUPT = 8, SHORT = 16 };
static const struct { const char *name; int kind, number; } kinds[] = {
    {"EIO", INPUT_OUTPUT, EIO}, {"ENOSPC", FULL, ENOSPC}, {"EMFILE", FILES, EMFILE},
    {"EINTR", INTERRUPT, EINTR}, {"short", SHORT, 0},
};
static atomic_uint calls, interrupts;
static atomic_flag has_failed = ATOMIC_FLAG_INIT;

static int concerns(const char *path) {
    const char *folder = getenv("SHAKY_FOLDER");
    return folder && path && strstr(path, folder) != NULL;
}

static void note(const char *operation, const char *path, int possible, const char *met) {
    const char *file = getenv("SHAKY_CALLS");
    char line[4500], names[64] = "";
    for (unsigned index = 0; index < sizeof kinds / sizeof *kinds; index++)
        if (kinds[index].kind & possible) strcat(strcat(names, names[0] ? "," : ""), kinds[index].name);
    int kept = errno;
    int to = file ? REAL(open)(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (to < 0) return;
    int count = snprintf(line, sizeof line, "%s %s %s %s\n", operation, path, names, met);
    if (REAL(write)(to, line, count) != count) abort();
    REAL(close)(to);
    errno = kept;
}

/* -1 for a call that fails with errno, 1 for one that does a part, 0 for one that is let through. */
static int meets(const char *operation, const char *path, int possible) {
    if (!concerns(path)) return 0;
    if (possible & INTERRUPT && getenv("SHAKY_INTERRUPTS") && atomic_fetch_add(&interrupts, 1) % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    unsigned call = atomic_fetch_add(&calls, 1) + 1, at = 0;
    char name[16] = "";
    const char *plan = getenv("SHAKY_FAIL");
    if (plan && sscanf(plan, "%u %15s", &at, name) == 2 && at && at <= call)
        for (unsigned index = 0; index < sizeof kinds / sizeof *kinds; index++)
            if (!strcmp(kinds[index].name, name) && kinds[index].kind & possible && !atomic_flag_test_and_set(&has_failed)) {
                note(operation, path, possible, name);
                errno = kinds[index].number;
                return errno ? -1 : 1;
            }
    note(operation, path, possible, "");
    return 0;
}

static int find_path(int descriptor, char path[4096]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = REAL(readlink)(link, path, 4095);
    path[count < 0 ? 0 : count] = 0;
    return count >= 0;
}

static int meets_file(const char *operation, int descriptor, int possible) {
    char path[4096];
    return find_path(descriptor, path) ? meets(operation, path, possible) : 0;
}

static void wait_while_held(int descriptor) {
    const char *name = getenv("SHAKY_HOLD");
    char path[4096], part[256];
    for (FILE *file; name && find_path(descriptor, path) && (file = REAL(fopen)(name, "r")); poll(NULL, 0, 1)) {
        int holds = fscanf(file, "%255s", part) == 1 && strstr(path, part);
        fclose(file);
        if (!holds) return;
    }
}

/* A part of a read or write, never nothing of it. */
static size_t part(int met, size_t count) { return met && count > 1 ? count / 2 : count; }

#define OPEN(name)                                                                        \
    int name(const char *path, int flags, ...) {                                          \
        va_list list;                                                                     \
        va_start(list, flags);                                                            \
        int mode = va_arg(list, int);                                                     \
        va_end(list);                                                                     \
        int makes = flags & O_CREAT, possible = INPUT_OUTPUT | FILES | INTERRUPT;         \
        if (meets(makes ? "create" : "open", path, possible | (makes ? FULL : 0))) return -1; \
        return REAL(name)(path, flags, mode);                                             \
    }
#define READ (INPUT_OUTPUT | INTERRUPT | SHORT)
#define WRITE (READ | FULL)
#define MOVE(name, operation, pointer, possible)                   \
    ssize_t name(int file, pointer bytes, size_t count) {          \
        int met = meets_file(operation, file, possible);           \
        if (met < 0) return -1;                                    \
        return REAL(name)(file, bytes, part(met, count));          \
    }
#define MOVE_AT(name, operation, pointer, offset, possible)              \
    ssize_t name(int file, pointer bytes, size_t count, offset at) {     \
        int met = meets_file(operation, file, possible);                 \
        if (met < 0) return -1;                                          \
        return REAL(name)(file, bytes, part(met, count), at);            \
    }
#define SYNC(name)                                                                         \
    int name(int file) {                                                                   \
        if (meets_file("sync", file, INPUT_OUTPUT | FULL | INTERRUPT)) return -1;          \
        wait_while_held(file);                                                             \
        return REAL(name)(file);                                                           \
    }
#define ON_PATH(name, operation, possible)                         \
    int name(const char *path) {                                   \
        if (meets(operation, path, possible)) return -1;           \
        return REAL(name)(path);                                   \
    }
#define ON_TWO(name, operation)                                    \
    int name(const char *path, const char *to) {                   \
        if (meets(operation, path, INPUT_OUTPUT | FULL)) return -1; \
        return REAL(name)(path, to);                               \
    }
#define STATUS(name)                                               \
    int name(const char *path, struct stat *found) {               \
        if (meets("stat", path, INPUT_OUTPUT)) return -1;          \
        return REAL(name)(path, found);                            \
    }

OPEN(open)
OPEN(open64)
MOVE(read, "read", void *, READ)
MOVE(write, "write", const void *, WRITE)
MOVE_AT(pread, "read", void *, off_t, READ)
MOVE_AT(pread64, "read", void *, off64_t, READ)
MOVE_AT(pwrite, "write", const void *, off_t, WRITE)
MOVE_AT(pwrite64, "write", const void *, off64_t, WRITE)
SYNC(fsync)
SYNC(fdatasync)
ON_PATH(unlink, "remove", INPUT_OUTPUT)
ON_PATH(remove, "remove", INPUT_OUTPUT)
ON_PATH(rmdir, "remove", INPUT_OUTPUT)
ON_TWO(rename, "rename")
ON_TWO(link, "link")
STATUS(stat)
STATUS(lstat)

int mkdir(const char *path, mode_t mode) {
    if (meets("create", path, INPUT_OUTPUT | FULL)) return -1;
    return REAL(mkdir)(path, mode);
}

int fchmod(int file, mode_t mode) {
    if (meets_file("protect", file, INPUT_OUTPUT | INTERRUPT)) return -1;
    return REAL(fchmod)(file, mode);
}

int access(const char *path, int wanted) {
    if (meets("stat", path, INPUT_OUTPUT)) return -1;
    return REAL(access)(path, wanted);
}

int fstat(int file, struct stat *found) {
    if (meets_file("stat", file, INPUT_OUTPUT)) return -1;
    return REAL(fstat)(file, found);
}

/* Linux closes the file also when it reports an error. */
int close(int file) {
    int met = meets_file("close", file, INPUT_OUTPUT), kept = errno, result = REAL(close)(file);
    if (met) errno = kept;
    return met ? -1 : result;
}

DIR *opendir(const char *path) {
    return meets("list", path, INPUT_OUTPUT | FILES) ? NULL : REAL(opendir)(path);
}

struct dirent *readdir(DIR *folder) {
    return meets_file("list", dirfd(folder), INPUT_OUTPUT) ? NULL : REAL(readdir)(folder);
}

FILE *fopen(const char *path, const char *mode) {
    return meets("open", path, INPUT_OUTPUT | FILES) ? NULL : REAL(fopen)(path, mode);
}

int ftruncate(int file, off_t count) {
    if (meets_file("truncate", file, INPUT_OUTPUT | INTERRUPT)) return -1;
    return REAL(ftruncate)(file, count);
}

int flock(int file, int operation) {
    /* What fails to be unlocked is unlocked by its close. */
    if (operation != LOCK_UN && meets_file("lock", file, INPUT_OUTPUT | INTERRUPT)) return -1;
    return REAL(flock)(file, operation);
}

int posix_fallocate(int file, off_t start, off_t count) {
    if (meets_file("reserve", file, INPUT_OUTPUT | FULL | INTERRUPT)) return errno;
    return REAL(posix_fallocate)(file, start, count);
}

int posix_fadvise(int file, off_t start, off_t count, int advice) {
    if (meets_file("read", file, INPUT_OUTPUT)) return errno;
    return REAL(posix_fadvise)(file, start, count, advice);
}

int statvfs(const char *path, struct statvfs *found) {
    if (meets("measure", path, INPUT_OUTPUT)) return -1;
    int result = REAL(statvfs)(path, found);
    const char *name = getenv("SHAKY_FREE");
    if (result != 0 || !name || !concerns(path)) return result;
    FILE *file = REAL(fopen)(name, "r");
    unsigned long long free_mib = 0, disk_mib = 0;
    int count = file ? fscanf(file, "%llu %llu", &free_mib, &disk_mib) : 0;
    if (count > 0) {
        found->f_frsize = 1024;
        found->f_bavail = free_mib * 1024;
    }
    if (count > 1) found->f_blocks = disk_mib * 1024;
    if (file) fclose(file);
    return result;
}
"""


def library(folder):
    """Builds the library in a folder; its path."""
    source, made = folder / "shaky_disk.c", folder / "shaky_disk.so"
    source.write_text(SOURCE)
    compiler = shutil.which("cc") or shutil.which("clang")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", made, source, "-ldl"], check=True)
    return str(made)


def calls_of(file, folder):
    """What $SHAKY_CALLS says: operation, path below a folder, what the call can meet, and what it met, or an empty text."""
    calls, text = [], file.read_text() if file.exists() else ""
    # The last line may be on its way.
    for line in text[: text.rfind("\n") + 1].splitlines():
        operation, rest = line.split(" ", 1)
        path, possible, met = rest.rsplit(" ", 2)
        path = path.removesuffix(" (deleted)").removeprefix(str(folder)).strip("/") or "."
        calls.append((operation, path, possible.split(","), met))
    return calls


class ShakyDisk:
    """Lays the library over the servers that are started meanwhile, for files below `data`."""

    def __init__(self, tmp_path, data, interrupts=False, notes=False):
        self.free, self.held, self.calls = (tmp_path / name for name in ["free-mib", "held", "calls"])
        self.folder = data
        self.set_free(100_000)
        self.variables = {
            "LD_PRELOAD": library(tmp_path),
            "SHAKY_FOLDER": str(data),
            "SHAKY_FREE": str(self.free),
            "SHAKY_HOLD": str(self.held),
            **({"SHAKY_INTERRUPTS": "1"} if interrupts else {}),
            **({"SHAKY_CALLS": str(self.calls)} if notes else {}),
        }

    def set_free(self, mib, of=None):
        draft = self.free.with_suffix(".draft")
        draft.write_text(f"{mib} {of or ''}")
        draft.rename(self.free)

    def hold(self, part):
        """Lets syncs of paths with this part wait, until `held` is gone."""
        self.part, self.seen = part, self.syncs(part)
        self.held.write_text(part)

    def await_held(self):
        """Waits until a sync waits."""
        deadline = time.monotonic() + 120
        while self.syncs(self.part) == self.seen:
            assert time.monotonic() < deadline, self.calls.read_text()
            time.sleep(0.01)

    def syncs(self, part):
        return sum(call[0] == "sync" and part in call[1] for call in calls_of(self.calls, self.folder))

    def __enter__(self):
        os.environ.update(self.variables)
        return self

    def __exit__(self, *_):
        for name in self.variables:
            del os.environ[name]
