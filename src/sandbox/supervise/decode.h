/* SPDX-License-Identifier: Apache-2.0 */
/* What a call's arguments say, once they were copied from the process: pure functions of bytes.
 *
 * They read untrusted memory, so they are apart from what acts on it and can be fuzzed alone
 * (fuzz_supervise.c).  Inside this folder, tests and fuzzers only. */
#ifndef HASP_SANDBOX_SUPERVISE_DECODE_H
#define HASP_SANDBOX_SUPERVISE_DECODE_H

#include <linux/openat2.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#ifndef RESOLVE_CACHED /* Linux 5.12 */
#define RESOLVE_CACHED 0x20
#endif

/* The longest name of one file, without its NUL (NAME_MAX). */
enum { DECODE_NAME_MAX = 255 };

/* A path, taken apart into what leads to its last component and that component. */
struct decoded_path {
	size_t folder_len;  /* bytes of the path that lead there; 0: none */
	const char *name;   /* in the path; not terminated */
	size_t name_len;    /* at most DECODE_NAME_MAX */
	bool slash;         /* slashes follow the name */
	bool plain;         /* there is a name, and it is neither "." nor ".." */
};

/* 0, ENOENT for an empty path, or ENAMETOOLONG. */
int decode_path(const char *path, struct decoded_path *ret);
/* The next component of `path`: its length, and *ret_next where the one behind begins (at the
 * NUL: none).  Skips slashes in front, which *ret_start is behind. */
size_t decode_component(const char *path, const char **ret_start, const char **ret_next);
/* Puts a link's target in front of what is left of a path (`rest`, which begins with a slash or is
 * empty), in `text` of `size` bytes, where `rest` may lie.  ENAMETOOLONG when there is no room. */
int decode_splice(char *text, size_t size, const char *target, const char *rest);

/* struct open_how of `size` bytes as openat2 takes it: 0, EINVAL or E2BIG. What flags mean is left
 * to the kernel, but for those that the supervisor itself looks at. */
int decode_open_how(const void *bytes, size_t size, struct open_how *ret);

/* An address of `len` bytes, as far as the kernel would read one: 0 or EINVAL. */
int decode_address(const void *bytes, size_t len, struct sockaddr_storage *ret);
#define DECODE_UNIX_PATH_SIZE 128
/* The path of an AF_UNIX address, into `path`; false: it is abstract, or has none. */
bool decode_unix_path(const struct sockaddr_storage *address, socklen_t len,
                      char path[DECODE_UNIX_PATH_SIZE]);

#endif
