/* SPDX-License-Identifier: Apache-2.0 */
/* What the supervisor of commands makes of the memory of a hostile process: the first byte says
 * whether the rest is a path, a link's target before a path, struct open_how or an address. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "sandbox/supervise/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* NUL-terminated, as it is copied from the process. */
static void copy_text(char text[LIMIT_PATH_BYTES], const uint8_t *data, size_t size)
{
	size_t len = size < LIMIT_PATH_BYTES - 1 ? size : LIMIT_PATH_BYTES - 1;

	memcpy(text, data, len);
	text[len] = '\0';
}

static void check_path(const char *path)
{
	const char *start, *next = path;
	struct decoded_path parts;
	size_t components = 0;
	int error = decode_path(path, &parts);

	if (error == ENOENT && path[0])
		abort();
	if (!error && (parts.name < path || parts.name_len > DECODE_NAME_MAX ||
	               parts.name != path + parts.folder_len ||
	               memchr(parts.name, '/', parts.name_len)))
		abort();
	if (!error && parts.folder_len && path[parts.folder_len - 1] != '/')
		abort();
	while (*next) {
		const char *before = next;
		size_t len = decode_component(next, &start, &next);

		if (next <= before || start < before || next < start + len ||
		    (len && memchr(start, '/', len)) || ++components > LIMIT_PATH_BYTES)
			abort();
	}
}

static void check_splice(char *path)
{
	char text[2 * LIMIT_PATH_BYTES];
	const char *start, *next;
	size_t len = decode_component(path, &start, &next);

	/* What is left of the path lies in the text it is written to. */
	memcpy(text, start, strlen(start) + 1);
	if (decode_splice(text, sizeof(text), path, text + len) == 0 &&
	    (strncmp(text, path, strlen(path)) != 0 ||
	     strcmp(text + strlen(path), start + len) != 0))
		abort();
}

static void check_how(const uint8_t *data, size_t size)
{
	struct open_how how;

	if (decode_open_how(data, size, &how) == 0 && (how.mode & ~UINT64_C(07777)))
		abort();
}

static void check_address(const uint8_t *data, size_t size)
{
	struct sockaddr_storage address;
	char path[DECODE_UNIX_PATH_SIZE];

	if (decode_address(data, size, &address) != 0)
		return;
	if (decode_unix_path(&address, (socklen_t)size, path) != (path[0] != '\0') ||
	    strlen(path) >= sizeof(path))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[LIMIT_PATH_BYTES];

	if (!size)
		return 0;
	copy_text(text, data + 1, size - 1);
	switch (data[0] % 4) {
	case 0:
		check_path(text);
		break;
	case 1:
		check_splice(text);
		break;
	case 2:
		check_how(data + 1, size - 1);
		break;
	default:
		check_address(data + 1, size - 1);
	}
	return 0;
}
