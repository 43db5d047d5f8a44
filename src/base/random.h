/* SPDX-License-Identifier: Apache-2.0 */
/* Random bytes, for secrets and for names.
 *
 *     char token[2 * 16 + 1];
 *
 *     if (!random_hex(token, 16, err))      // a secret: without random bytes there is none
 *             return false;
 *     random_distinct(&number, sizeof(number)); // a name: must differ, may be guessed
 *
 * The bytes are those of getrandom(2), or of /dev/urandom where the kernel or a seccomp filter
 * refuses it.  Nothing else in the program calls getrandom. */
#ifndef HASP_BASE_RANDOM_H
#define HASP_BASE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { RANDOM_UUID_BYTES = 16, RANDOM_UUID_SIZE = 37 /* its text, with the NUL */ };

/* Fills it with bytes that cannot be guessed; waits until the kernel has some, which it may have to
 * soon after the machine's start.  NO_RESOURCES, PERMISSION_DENIED, ...: neither source gave
 * any; what `data` then holds must not be used. */
bool random_fill(void *data, size_t size, struct err *err);
/* So many of them in hexadecimal: 2 * bytes digits and a NUL.  Errors as of random_fill. */
bool random_hex(char *text, size_t bytes, struct err *err);
/* Fills it with bytes that differ from those of all other calls, in this process and in others.
 * Neither waits nor fails: where there are no random bytes, the time, the process and a counter
 * are hashed, which can be guessed. */
void random_distinct(void *data, size_t size);
/* The same as a UUID's text (version 4 of RFC 9562). */
void random_uuid(char text[static RANDOM_UUID_SIZE]);
/* These bytes, of which 6 bits are replaced, as such a text. Pure. */
void random_uuid_print(const unsigned char bytes[static RANDOM_UUID_BYTES],
                       char text[static RANDOM_UUID_SIZE]);
/* Bytes in hexadecimal, and a NUL. Pure. */
void random_hex_print(const unsigned char *bytes, size_t count, char *text);

#endif
