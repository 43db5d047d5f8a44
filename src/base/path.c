/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

char *path_of_address(struct span address)
{
	const struct span scheme = SPAN("file://");
	struct span rest = span_starts(address, scheme) ? span_skip(address, scheme.len) : SPAN("");
	const char *slash = rest.len ? memchr(rest.data, '/', rest.len) : NULL;
	char own[256] = ""; /* a name of a host has at most 64 (HOST_NAME_MAX) */
	_cleanup_buf_ struct buf path = BUF_INIT(rest.len + 1);
	struct span host;

	if (!slash)
		return NULL;
	host = span_head(rest, (size_t)(slash - rest.data));
	gethostname(own, sizeof(own) - 1);
	if (host.len && !span_eq(host, SPAN("localhost")) && !span_eq(host, span_str(own)))
		return NULL;
	for (rest = span_skip(rest, host.len); rest.len; rest = span_skip(rest, 1)) {
		const int high = rest.data[0] == '%' && rest.len > 2 ? ascii_hex(rest.data[1]) : -1;
		const int low = high >= 0 ? ascii_hex(rest.data[2]) : -1;

		buf_char(&path, low >= 0 ? (char)(high << 4 | low) : rest.data[0]);
		if (low >= 0)
			rest = span_skip(rest, 2);
	}
	return memchr(path.data, '\0', path.len) ? NULL : buf_steal(&path);
}
