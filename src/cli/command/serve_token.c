/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/serve_token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/span.h"

enum {
	RANDOM_BYTES = 32,
	TOKEN_MIN = 16, /* below that somebody could try them all */
	TOKEN_MAX = 512,
};

/* RFC 6750, 2.1: b64token. */
static bool check(const char *token, const char *from, struct err *err)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=";
	size_t len = strlen(token);

	if (len >= TOKEN_MIN && len <= TOKEN_MAX && strspn(token, allowed) == len)
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "The token of %s is not one: %d to %d letters, digits and -._~+/= are.",
	               from, TOKEN_MIN, TOKEN_MAX);
}

static char *make_token(void)
{
	unsigned char bytes[RANDOM_BYTES];
	char *token = mem_alloc(2 * sizeof(bytes) + 1, 1);

	while (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		token[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
		token[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
	}
	return token;
}

static bool read_token(int fd, const char *file, char **ret, struct err *err)
{
	char text[TOKEN_MAX + 3]; /* room for a line end, and to see that it is too long */
	struct stat st;
	struct span token;
	ssize_t got;

	if (fstat(fd, &st) < 0)
		return err_set_errno(err, errno, "The token file %s cannot be read", file);
	if (!S_ISREG(st.st_mode) || (st.st_mode & 077) || st.st_uid != geteuid())
		return err_set(err, ERR_PERMISSION_DENIED,
		               "The token file %s is not used: it must be a file of yours that "
		               "nobody else can read or write (chmod 600).", file);
	got = fd_read_full(fd, text, sizeof(text));
	if (got < 0)
		return err_set_errno(err, errno, "The token file %s cannot be read", file);
	token = span_trim(span_of(text, (size_t)got));
	*ret = mem_dup(token.data ? token.data : "", token.len);
	if (check(*ret, file, err))
		return true;
	free(mem_steal(ret));
	return false;
}

static bool write_token(const char *file, const char *token, struct err *err)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	_cleanup_fd_ int fd = open(file, flags, 0600);
	_cleanup_free_ char *line = mem_printf("%s\n", token);

	if (fd < 0 || !fd_write_all(fd, line, strlen(line))) {
		int saved = errno;

		if (fd >= 0)
			unlink(file);
		return err_set_errno(err, saved, "The token file %s cannot be written", file);
	}
	return true;
}

static bool token_from_file(const char *file, char **ret, enum token_source *ret_source,
                            struct err *err)
{
	_cleanup_fd_ int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	_cleanup_free_ char *token = NULL;

	*ret_source = TOKEN_FILE;
	if (fd >= 0)
		return read_token(fd, file, ret, err);
	if (errno != ENOENT)
		return err_set_errno(err, errno, "The token file %s cannot be read", file);
	*ret_source = TOKEN_FILE_NEW;
	token = make_token();
	if (!write_token(file, token, err))
		return false;
	*ret = mem_steal(&token);
	return true;
}

bool serve_token(const char *file, char **ret, enum token_source *ret_source, struct err *err)
{
	const char *given = getenv("HASP_MCP_TOKEN");

	if (file)
		return token_from_file(file, ret, ret_source, err);
	if (given && *given) {
		*ret_source = TOKEN_ENVIRONMENT;
		if (!check(given, "HASP_MCP_TOKEN", err))
			return false;
		*ret = mem_strdup(given);
		return true;
	}
	*ret_source = TOKEN_NEW;
	*ret = make_token();
	return true;
}
