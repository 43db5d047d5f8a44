/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

static void add_component(struct buf *out, struct span name)
{
	if (!name.len || span_eq(name, SPAN(".")))
		return;
	if (!span_eq(name, SPAN(".."))) {
		buf_char(out, '/');
		buf_span(out, name);
		return;
	}
	while (out->len && out->data[--out->len] != '/')
		;
}

static void add_components(struct buf *out, const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");

		add_component(out, span_of(path, len));
		path += len + (path[len] == '/');
	}
}

char *path_join(const char *folder, const char *name)
{
	_cleanup_buf_ struct buf out = BUF_INIT(strlen(folder) + strlen(name) + 3);

	if (*name != '/')
		add_components(&out, folder);
	add_components(&out, name);
	if (!out.len)
		buf_char(&out, '/');
	buf_char(&out, 0);
	return buf_steal(&out);
}

bool path_is_under(const char *path, const char *root)
{
	size_t len = strlen(root);

	if (strcmp(root, "/") == 0)
		return *path == '/';
	return strncmp(path, root, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

char *path_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return mem_strdup("/");
	return mem_dup(path, (size_t)(slash - path));
}
