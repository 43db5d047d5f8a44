/* SPDX-License-Identifier: Apache-2.0 */
/* What the user set of an extension's settings: its .env file, and the key store. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/door.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"
#include "base/text.h"
#include "config/extensions.h"
#include "config/private.h"
#include "data/json.h"

/* The address of a repository at GitHub as Gemini CLI has it in names; others are themselves. */
static char *plain_address(const struct extension *extension)
{
	static const char *const prefixes[] = { "https://github.com/", "git@github.com:" };
	const char *source = json_string_value(json_object_get(extension->origin, "source"));
	const char *type = json_string_value(json_object_get(extension->origin, "type"));
	struct span rest;

	if (!source)
		return mem_strdup(extension->name);
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		if (!type || (strcmp(type, "git") != 0 && strcmp(type, "github-release") != 0) ||
		    !span_starts(span_str(source), span_str(prefixes[i])))
			continue;
		rest = span_skip(span_str(source), strlen(prefixes[i]));
		rest.len -= span_ends(rest, SPAN("/"));
		rest.len -= span_ends(rest, SPAN(".git")) ? 4 : 0;
		return mem_printf("https://github.com/%.*s", (int)rest.len, rest.data);
	}
	return mem_strdup(source);
}

/* As Gemini CLI names its place in the key store: by the address of what was installed. */
static char *secrets_service(const struct extension *extension)
{
	_cleanup_free_ char *address = plain_address(extension);
	const struct sha256 sum = sha256_of(span_str(address));
	json_auto_t *id = json_sha256(&sum);

	return mem_printf("Gemini CLI Extensions %s %s", extension->name, json_string_value(id));
}

struct env_search {
	struct span name;
	char *found; /* owned */
};

static void take_env_value(void *data, struct span name, const char *value)
{
	struct env_search *search = data;

	if (!span_eq(name, search->name))
		return;
	free(search->found);
	search->found = mem_strdup(value);
}

bool extension_variable_steers(const char *variable)
{
	const struct authority_row *row = authority_variable(span_str(variable));

	/* A token is the user's to give. */
	return row && (row->others || (row->project == AUTHORITY_PROCESS &&
	                               strcmp(variable, "GITHUB_TOKEN") != 0));
}

char *extension_value(const struct extension *extension, const char *variable, bool secret)
{
	_cleanup_free_ char *path = path_join(extension->installed, ".env");
	_cleanup_file_text_ struct file_text text = { 0 };
	struct env_search search = { .name = span_str(variable) };
	struct err ignored = ERR_INIT;
	char *kept = NULL;

	if (extension_variable_steers(variable))
		return NULL;
	if (secret) {
		_cleanup_free_ char *service = secrets_service(extension);

		if (keystore_get(service, variable, &kept))
			return kept;
	}
	if (door_read(extension->installed, path, LIMIT_SETTINGS_BYTES, &text, &ignored) &&
	    text.data)
		env_file_parse(file_text_span(&text), take_env_value, &search);
	return search.found;
}

/* ---- setting one ---------------------------------------------------------------------- */

static bool is_env_name(const char *name)
{
	for (const char *c = name; *c; c++)
		if (!ascii_is_alnum(*c) && *c != '_')
			return false;
	return *name && !ascii_is_digit(*name);
}

/* NAME=VALUE, in quotes where it needs them: those that it does not have itself. */
static bool put_env_line(struct buf *out, const char *name, const char *value, struct err *err)
{
	const char *quotes = strchr(value, '\\') ? "'`" : "'\"`";

	if (variables_is_plain(value) && !strchr(value, '#') && !strchr(value, '`'))
		return buf_printf(out, "%s=%s\n", name, value);
	for (const char *quote = quotes; *quote; quote++)
		if (!strchr(value, *quote))
			return buf_printf(out, "%s=%c%s%c\n", name, *quote, value, *quote);
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "A value with all kinds of quotation marks cannot be kept.");
}

struct env_rewriting {
	struct buf *out;
	const char *without;
	struct err *err;
	bool failed;
};

static void keep_env_value(void *data, struct span name, const char *value)
{
	struct env_rewriting *rewriting = data;
	_cleanup_free_ char *kept = mem_dup(name.data, name.len);

	if (strcmp(kept, rewriting->without) != 0 && is_env_name(kept) &&
	    !put_env_line(rewriting->out, kept, value, rewriting->err))
		rewriting->failed = true;
}

/* Of the folder, which gets no file more by it: what it holds is what the user said yes to. */
static int env_file_lock(const struct extension *extension, struct err *err)
{
	_cleanup_fd_ int fd = open(extension->installed, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		err_set_errno(err, errno, "Cannot lock %s", extension->installed);
	else if (file_lock_take(fd, extension->installed, NULL, err))
		return fd_steal(&fd);
	return -1;
}

/* Rewrites the file without its comments, as Gemini CLI does. */
static bool env_file_set(const struct extension *extension, const char *variable,
                         const char *value, struct err *err)
{
	_cleanup_free_ char *path = path_join(extension->installed, ".env");
	_cleanup_file_text_ struct file_text text = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_SETTINGS_BYTES);
	struct env_rewriting rewriting = { .out = &out, .without = variable, .err = err };
	_cleanup_fd_ int lock = env_file_lock(extension, err);

	if (lock < 0 || !door_read(extension->installed, path, LIMIT_SETTINGS_BYTES, &text, err))
		return false;
	if (!text.data && !value)
		return true;
	if (text.data)
		env_file_parse(file_text_span(&text), keep_env_value, &rewriting);
	if (rewriting.failed || (value && !put_env_line(&out, variable, value, err)))
		return false;
	if (out.overflowed)
		return err_set(err, ERR_TOO_LARGE, "%s would become too large.", path);
	return door_replace(extension->installed, path, buf_view(&out), 0600, err);
}

bool extension_value_set(const struct extension *extension, const char *variable, bool secret,
                         const char *value, struct err *err)
{
	_cleanup_free_ char *service = secrets_service(extension);

	for (const char *c = value ? value : ""; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "A value is one line without control characters.");
	if (!is_env_name(variable))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The extension names a variable that cannot be one.");
	if (value && extension_variable_steers(variable))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%s cannot be set for an extension: programs that hasp starts obey "
		               "it.", variable);
	if (secret && value && !keystore_set(service, variable, value, err))
		return false;
	/* A secret must not stay in the file, even if another program wrote it there. */
	if (secret && !value) {
		struct err ignored = ERR_INIT;

		(void)keystore_delete(service, variable, &ignored);
	}
	return env_file_set(extension, variable, secret ? NULL : value, err);
}
