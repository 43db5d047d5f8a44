/* SPDX-License-Identifier: Apache-2.0 */
/* hooks.toml: the same, as a table for each event or an array of tables:
 *
 *     [hooks.BeforeTool]            [[hooks.BeforeTool]]
 *     sequential = true             matcher = "write_.*"
 *     hooks = [ { type = "command", command = "..." } ]
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "data/toml.h"
#include "hooks/hook.h"

enum { FILE_BYTES_MAX = 1 << 20 };

static bool read_file(const char *path, struct buf *out, json_t *problems)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;
	ssize_t got;
	char *room;

	if (fd < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			hooks_problem(problems, path, "The file cannot be read: %s.",
			              strerror(errno));
		return false;
	}
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size > FILE_BYTES_MAX) {
		hooks_problem(problems, path, "This is no file of at most %d bytes.",
		              FILE_BYTES_MAX);
		return false;
	}
	room = buf_reserve(out, (size_t)status.st_size);
	got = room ? fd_read_full(fd, room, (size_t)status.st_size) : -1;
	if (got < 0) {
		hooks_problem(problems, path, "The file cannot be read: %s.", strerror(errno));
		return false;
	}
	out->len += (size_t)got;
	return true;
}

/* A table for an event is a list of one. */
static json_t *as_settings(const json_t *hooks)
{
	json_t *config = json_object();
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)hooks, name, value) {
		if (json_is_object(value))
			json_object_set_new(config, name, json_pack("[O]", value));
		else
			json_object_set(config, name, value);
	}
	return config;
}

bool hooks_add_toml(struct hooks *hooks, enum hook_source source, const char *path,
                    json_t *problems)
{
	_cleanup_buf_ struct buf text = BUF_INIT(FILE_BYTES_MAX);
	json_auto_t *root = NULL, *config = NULL;
	struct err err = ERR_INIT;
	const json_t *table;

	if (!read_file(path, &text, problems))
		return true; /* there is none, or it has been said */
	if (!toml_parse(buf_view(&text), false, &root, &err)) {
		hooks_problem(problems, path, "%s", err.message);
		return false;
	}
	table = json_object_get(root, "hooks");
	config = as_settings(table ? table : root);
	hooks_add(hooks, source, config, problems);
	return true;
}
