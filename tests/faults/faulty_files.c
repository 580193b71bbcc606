/* Stands between a program and its C library (LD_PRELOAD) and makes file calls below one folder go wrong.

   Python arms it by ctypes: the nth call below the folder fails with an error number, is cut short, or is the last
   one before the process ends. Every call that changes something is written to a record, from which
   power_loss.py makes the disks that a power cut may leave. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIE = -1, SHORT = -2, MAX_FD = 4096, MAX_PATH = 1024 };

static char folder[MAX_PATH];
static long nth, seen, opened;
static int fault, record_fd = -1;
static char names[MAX_FD][MAX_PATH]; /* of files below the folder that are open; empty for others */
static int32_t serials[MAX_FD];

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void faults_arm(const char *below, long at, int what, int record) {
    strncpy(folder, below, MAX_PATH - 1);
    nth = at, fault = what, record_fd = record, seen = 0, opened = 0;
}

long faults_seen(void) { return seen; }

static int ours(const char *path) { return folder[0] && path && !strncmp(path, folder, strlen(folder)); }

static int is_open(int fd) { return fd >= 0 && fd < MAX_FD && names[fd][0]; }

static void put(char op, const char *a, const char *b, int32_t serial, int64_t at, const void *data, uint32_t size) {
    if (record_fd < 0) return;
    struct { char op, pad[3]; int32_t serial; int64_t at; uint32_t a, b, size, pad2; } head = {
        .op = op, .serial = serial, .at = at, .a = a ? strlen(a) : 0, .b = b ? strlen(b) : 0, .size = size};
    ssize_t (*out)(int, const void *, size_t) = REAL(write);
    if (out(record_fd, &head, sizeof head) < 0) _exit(99);
    if (head.a && out(record_fd, a, head.a) < 0) _exit(99);
    if (head.b && out(record_fd, b, head.b) < 0) _exit(99);
    if (size && out(record_fd, data, size) < 0) _exit(99);
}

/* A note of the program's own, such as "these rows are committed". */
void faults_note(long number) { put('!', 0, 0, 0, number, 0, 0); }

/* Counts a call. Returns whether it is the one that goes wrong. */
static int is_next(void) { return ++seen == nth; }
#define FAIL_IF(hit) if ((hit) && fault > 0) { errno = fault; return -1; }
#define END_IF(hit) if ((hit) && fault == DIE) _exit(137)

static int opened_as(const char *path, int flags, int fd, int before) {
    if (fd < 0 || fd >= MAX_FD) return fd;
    strncpy(names[fd], path, MAX_PATH - 1);
    serials[fd] = ++opened;
    if (flags & (O_WRONLY | O_RDWR)) put('o', path, 0, serials[fd], !before ? 1 : flags & O_TRUNC ? 2 : 0, 0, 0);
    return fd;
}

#define OPEN(name)                                                             \
    int name(const char *path, int flags, ...) {                               \
        va_list more;                                                          \
        va_start(more, flags);                                                 \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;\
        va_end(more);                                                          \
        if (!ours(path)) return REAL(name)(path, flags, mode);                 \
        int hit = is_next();                                                   \
        FAIL_IF(hit)                                                           \
        int before = !access(path, F_OK);                                      \
        int fd = opened_as(path, flags, REAL(name)(path, flags, mode), before);\
        END_IF(hit);                                                           \
        return fd;                                                             \
    }
OPEN(open)
OPEN(open64)

int close(int fd) {
    if (is_open(fd)) names[fd][0] = 0;
    return REAL(close)(fd);
}

ssize_t write(int fd, const void *data, size_t size) {
    if (!is_open(fd)) return REAL(write)(fd, data, size);
    int hit = is_next();
    FAIL_IF(hit)
    if (hit && fault == SHORT && size > 1) size /= 2;
    struct stat now;
    fstat(fd, &now);
    int64_t at = fcntl(fd, F_GETFL) & O_APPEND ? now.st_size : lseek(fd, 0, SEEK_CUR);
    ssize_t done = REAL(write)(fd, data, size);
    if (done > 0) put('w', 0, 0, serials[fd], at, data, done);
    END_IF(hit);
    return done;
}

#define SYNC(name)                                                 \
    int name(int fd) {                                             \
        if (!is_open(fd)) return REAL(name)(fd);                   \
        int hit = is_next();                                       \
        FAIL_IF(hit)                                               \
        int done = REAL(name)(fd);                                 \
        if (!done) put('s', names[fd], 0, serials[fd], 0, 0, 0);   \
        END_IF(hit);                                               \
        return done;                                               \
    }
SYNC(fsync)
SYNC(fdatasync)

#define TRUNCATE(name, type)                                       \
    int name(int fd, type size) {                                  \
        if (!is_open(fd)) return REAL(name)(fd, size);             \
        int hit = is_next();                                       \
        FAIL_IF(hit)                                               \
        int done = REAL(name)(fd, size);                           \
        if (!done) put('t', 0, 0, serials[fd], size, 0, 0);        \
        END_IF(hit);                                               \
        return done;                                               \
    }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

int rename(const char *from, const char *to) {
    if (!ours(from) && !ours(to)) return REAL(rename)(from, to);
    int hit = is_next();
    FAIL_IF(hit)
    int done = REAL(rename)(from, to);
    if (!done) put('r', from, to, 0, 0, 0, 0);
    END_IF(hit);
    return done;
}

#define ONE_PATH(name, op, params, args)                           \
    int name params {                                              \
        if (!ours(path)) return REAL(name) args;                   \
        int hit = is_next();                                       \
        FAIL_IF(hit)                                               \
        int done = REAL(name) args;                                \
        if (!done) put(op, path, 0, 0, 0, 0, 0);                   \
        END_IF(hit);                                               \
        return done;                                               \
    }
ONE_PATH(mkdir, 'm', (const char *path, mode_t mode), (path, mode))
ONE_PATH(unlink, 'u', (const char *path), (path))
ONE_PATH(rmdir, 'u', (const char *path), (path))
