/* SPDX-License-Identifier: Apache-2.0 */
/* The bearer token of a server: from a file, a variable, or made for this start. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/span.h"
#include "cli/command/private.h"

enum {
	RANDOM_BYTES = 32,
	TOKEN_MIN = 16, /* a shorter one could be guessed */
	TOKEN_MAX = 512,
};

/* RFC 6750, 2.1: b64token. */
static bool check_bearer_token(const char *token, const char *from, struct err *err)
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

/* NULL: *err. */
static char *make_token(struct err *err)
{
	char token[2 * RANDOM_BYTES + 1];

	return random_hex(token, RANDOM_BYTES, err) ? mem_strdup(token) : NULL;
}

static bool read_token_file(int fd, const char *file, char **ret, struct err *err)
{
	char text[TOKEN_MAX + 3]; /* room for a line end, and to see that it is too long */
	struct stat st;
	struct span token;
	ssize_t got;

	if (fstat(fd, &st) < 0)
		return err_set_errno(err, errno, "The token file %s cannot be read", file);
	if (!S_ISREG(st.st_mode) || (st.st_mode & 077) || st.st_uid != geteuid())
		return err_set(err, ERR_PERMISSION_DENIED,
		               "The token file %s is not used: only its owner, you, may be able to "
		               "read or write it (chmod 600).", file);
	got = fd_read_full(fd, text, sizeof(text));
	if (got < 0)
		return err_set_errno(err, errno, "The token file %s cannot be read", file);
	token = span_trim(span_of(text, (size_t)got));
	*ret = mem_dup(token.data ? token.data : "", token.len);
	if (check_bearer_token(*ret, file, err))
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
		return read_token_file(fd, file, ret, err);
	if (errno != ENOENT)
		return err_set_errno(err, errno, "The token file %s cannot be read", file);
	*ret_source = TOKEN_FILE_NEW;
	token = make_token(err);
	if (!token || !write_token(file, token, err))
		return false;
	*ret = mem_steal(&token);
	return true;
}

bool command_token(const char *file, const char *variable, const char *given, char **ret,
                   enum token_source *ret_source, struct err *err)
{
	if (file)
		return token_from_file(file, ret, ret_source, err);
	if (given && *given) {
		*ret_source = TOKEN_ENVIRONMENT;
		if (!check_bearer_token(given, variable, err))
			return false;
		*ret = mem_strdup(given);
		return true;
	}
	*ret_source = TOKEN_NEW;
	*ret = make_token(err);
	return *ret != NULL;
}
