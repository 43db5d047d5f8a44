/* SPDX-License-Identifier: Apache-2.0 */
/* Paths, struct open_how and addresses, as bytes. */
#include "sandbox/supervise/decode.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/un.h>

size_t decode_component(const char *path, const char **ret_start, const char **ret_next)
{
	size_t len;

	path += strspn(path, "/");
	len = strcspn(path, "/");
	*ret_start = path;
	*ret_next = path + len + strspn(path + len, "/");
	return len;
}

int decode_path(const char *path, struct decoded_path *ret)
{
	size_t end = strlen(path), start;

	if (!end)
		return ENOENT;
	while (end > 0 && path[end - 1] == '/')
		end--;
	start = end;
	while (start > 0 && path[start - 1] != '/')
		start--;
	if (end - start > DECODE_NAME_MAX)
		return ENAMETOOLONG;
	*ret = (struct decoded_path){
		.folder_len = start, .name = path + start, .name_len = end - start,
		.slash = path[end] == '/',
	};
	ret->plain = ret->name_len && !(ret->name_len <= 2 && ret->name[0] == '.' &&
	                                ret->name[ret->name_len - 1] == '.');
	return 0;
}

int decode_splice(char *text, size_t size, const char *target, const char *rest)
{
	size_t target_len = strlen(target), rest_len = strlen(rest);

	if (target_len >= size || rest_len >= size - target_len)
		return ENAMETOOLONG;
	memmove(text + target_len, rest, rest_len + 1);
	memcpy(text, target, target_len);
	return 0;
}

int decode_open_how(const void *bytes, size_t size, struct open_how *ret)
{
	const unsigned char *more = bytes;

	if (size < sizeof(*ret)) /* OPEN_HOW_SIZE_VER0 is all of it */
		return EINVAL;
	for (size_t i = sizeof(*ret); i < size; i++) {
		if (more[i])
			return E2BIG;
	}
	memcpy(ret, bytes, sizeof(*ret));
	if (ret->flags > INT32_MAX || ret->mode & ~UINT64_C(07777) ||
	    ret->resolve & ~(uint64_t)(RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS |
	                               RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_IN_ROOT |
	                               RESOLVE_CACHED))
		return EINVAL;
	if (ret->mode && !(ret->flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))))
		return EINVAL;
	if ((ret->resolve & RESOLVE_BENEATH) && (ret->resolve & RESOLVE_IN_ROOT))
		return EINVAL;
	return 0;
}

int decode_address(const void *bytes, size_t len, struct sockaddr_storage *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (len < sizeof(sa_family_t) || len > sizeof(*ret))
		return EINVAL;
	memcpy(ret, bytes, len);
	return 0;
}

bool decode_unix_path(const struct sockaddr_storage *address, socklen_t len,
                      char path[DECODE_UNIX_PATH_SIZE])
{
	const struct sockaddr_un *un = (const void *)address;
	const size_t before = offsetof(struct sockaddr_un, sun_path);
	size_t room = len > before ? len - before : 0;

	if (room > sizeof(un->sun_path))
		room = sizeof(un->sun_path);
	room = strnlen(un->sun_path, room);
	memcpy(path, un->sun_path, room);
	path[room] = '\0';
	return room > 0;
}
