/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the workspace as resources: lists, the template, contents. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "mcp/offer/conversation.h"
#include "mcp/offer/offer.h"
#include "mcp/offer/opened.h"
#include "net/rpc/rpc.h"
#include "tool/denial.h"
#include "tool/tool.h"

/* ---- media types ------------------------------------------------------------- */

/* Media types by the extension of a name: for lists, where no content is looked at. */

/* To add a type: a row, in the order of the extensions. */
static const struct {
	const char *extensions; /* with a space between them */
	const char *mime;
} rows[] = {
	{ "c h", "text/x-c" },
	{ "cc cpp cxx hpp hh hxx", "text/x-c++" },
	{ "cs", "text/x-csharp" },
	{ "css", "text/css" },
	{ "csv", "text/csv" },
	{ "diff patch", "text/x-diff" },
	{ "gif", "image/gif" },
	{ "go", "text/x-go" },
	{ "gz tgz", "application/gzip" },
	{ "htm html", "text/html" },
	{ "java", "text/x-java" },
	{ "jpeg jpg", "image/jpeg" },
	{ "js cjs mjs", "text/javascript" },
	{ "json", "application/json" },
	{ "md markdown", "text/markdown" },
	{ "mp3", "audio/mpeg" },
	{ "mp4", "video/mp4" },
	{ "ogg", "audio/ogg" },
	{ "pdf", "application/pdf" },
	{ "php", "text/x-php" },
	{ "png", "image/png" },
	{ "py pyi", "text/x-python" },
	{ "rb", "text/x-ruby" },
	{ "rs", "text/x-rust" },
	{ "sh bash", "text/x-shellscript" },
	{ "sql", "application/sql" },
	{ "svg", "image/svg+xml" },
	{ "tar", "application/x-tar" },
	{ "toml", "application/toml" },
	{ "ts tsx mts cts", "text/x-typescript" },
	{ "txt log", "text/plain" },
	{ "wav", "audio/wav" },
	{ "webp", "image/webp" },
	{ "xml", "application/xml" },
	{ "yaml yml", "application/yaml" },
	{ "zip", "application/zip" },
};

static bool names_have_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	while (*words) {
		size_t own = strcspn(words, " ");

		if (own == len && strncasecmp(words, word, len) == 0)
			return true;
		words += own + (words[own] == ' ');
	}
	return false;
}

/* resources.c: by the extension of a name; NULL when it is not known. Static. */
static const char *mime_of_name(const char *name)
{
	const char *slash = strrchr(name, '/');
	const char *dot = strrchr(slash ? slash + 1 : name, '.');

	for (size_t i = 0; dot && dot[1] && i < ARRAY_LEN(rows); i++)
		if (names_have_word(rows[i].extensions, dot + 1))
			return rows[i].mime;
	return NULL;
}

/* ---- resources --------------------------------------------------------------- */

enum {
	PAGE = 500, /* resources on one page */
	URI_MAX = LIMIT_PATH_BYTES * 4,
};

/* ---- lists ------------------------------------------------------------------ */

/* Where a page begins: after a file of one root. */
struct resource_cursor {
	size_t root;
	char *after; /* owned; path relative to the root; NULL: at its beginning */
};

static void cursor_release(struct resource_cursor *cursor)
{
	free(cursor->after);
}
#define _cleanup_cursor_ __attribute__((cleanup(cursor_release)))

/* "2:file:///src/main.c": the path as a URI, because it may be any bytes. */
static bool cursor_read(const char *text, struct resource_cursor *ret)
{
	struct err ignored = ERR_INIT;
	_cleanup_free_ char *path = NULL;
	char *end;

	if (!text)
		return true;
	ret->root = strtoul(text, &end, 10);
	if (end == text || *end != ':' || !uri_to_path(end + 1, &path, &ignored))
		return false;
	ret->after = mem_strdup(path + 1);
	return true;
}

static void cursor_write(struct buf *out, size_t root, const char *after)
{
	_cleanup_free_ char *path = mem_printf("/%s", after);
	_cleanup_buf_ struct buf text = BUF_INIT(URI_MAX);

	buf_printf(&text, "%zu:", root);
	uri_from_path(&text, path);
	json_print_string(out, buf_view(&text));
}

/* A name of any bytes as JSON. */
static void print_name(struct buf *out, const char *name)
{
	json_auto_t *text = json_name(name);

	json_print(out, text, 0);
}

static void print_resource(struct buf *out, const char *folder, const struct walk_entry *entry)
{
	_cleanup_buf_ struct buf uri = BUF_INIT(URI_MAX);
	_cleanup_free_ char *path = mem_printf("%s/%s", strcmp(folder, "/") ? folder : "",
	                                       entry->path);
	const char *mime = mime_of_name(entry->path);

	uri_from_path(&uri, path);
	buf_str(out, "{\"uri\":");
	json_print_string(out, buf_view(&uri));
	buf_str(out, ",\"name\":");
	print_name(out, entry->path);
	if (mime)
		buf_printf(out, ",\"mimeType\":\"%s\"", mime);
	buf_printf(out, ",\"size\":%llu}", (unsigned long long)entry->size);
}

/* The first entry whose path comes after `after`. */
static size_t first_after(const struct walk_result *walk, const char *after)
{
	size_t low = 0, high = after ? walk->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(walk->entries[middle].path, after) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Appends files of one root while there is room on the page; true when the page ends in it. */
static bool list_root(struct buf *out, const struct walk_result *walk, size_t root,
                      const struct resource_cursor *cursor, size_t *room)
{
	size_t i = first_after(walk, root == cursor->root ? cursor->after : NULL);

	for (; i < walk->count && *room; i++, --*room) {
		if (*room < PAGE)
			buf_char(out, ',');
		print_resource(out, walk->folder, &walk->entries[i]);
	}
	if (i == walk->count)
		return false;
	buf_str(out, "],\"nextCursor\":");
	cursor_write(out, root, i ? walk->entries[i - 1].path : "");
	return true;
}

static bool list_all(struct provider *provider, const struct resource_cursor *cursor,
                     struct buf *out, struct err *err)
{
	size_t room = PAGE;
	bool cut = false;
	const char *path;

	buf_str(out, "{\"resources\":[");
	for (size_t i = cursor->root; !cut && (path = provider->ops->root(provider, i)); i++) {
		struct walk_request request = { .path = path, .recursive = true };
		struct walk_result walk = { 0 };

		if (!provider->ops->walk(provider, &request, &walk, err))
			return false;
		cut = list_root(out, &walk, i, cursor, &room);
		walk_result_release(&walk);
	}
	buf_str(out, cut ? "}" : "]}");
	return !out->overflowed || err_set(err, ERR_TOO_LARGE, "The list is too large.");
}

static void resource_error(struct mcp_call *call, const struct err *err)
{
	bool missing = err->code == ERR_FILE_NOT_FOUND;
	bool theirs = err_class_of(err->code) != ERR_CLASS_SYSTEM &&
	              err_class_of(err->code) != ERR_CLASS_BUG;
	json_t *data = json_object();
	struct denial denial;

	json_object_set_new(data, "code", json_string(err_name(err->code)));
	if (denial_of(err, &denial))
		json_object_set_new(data, "denial", denial_json(&denial));
	if (mcp_call_uri(call))
		json_object_set_new(data, "uri", json_string(mcp_call_uri(call)));
	mcp_call_error(call, missing ? MCP_RESOURCE_NOT_FOUND :
	                     theirs  ? RPC_INVALID_PARAMS : RPC_INTERNAL_ERROR,
	               err->message, data);
}

/* A workspace that could not be opened says so when its first root is walked. */
static bool has_root(struct provider *provider, struct err *err)
{
	struct walk_request request = { .path = "." };
	struct walk_result walk = { 0 };

	if (provider->ops->root(provider, 0))
		return true;
	if (provider->ops->walk(provider, &request, &walk, err))
		walk_result_release(&walk);
	return false;
}

void resources_list(struct mcp_call *call, void *serve)
{
	_cleanup_cursor_ struct resource_cursor cursor = { 0 };
	struct opened_workspace *opened = conversation_open(mcp_call_session(call), call);
	struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES);
	struct err err = ERR_INIT;

	(void)serve;
	if (!cursor_read(mcp_call_cursor(call), &cursor))
		mcp_call_error(call, RPC_INVALID_PARAMS, "The cursor is not one of this server.",
		               NULL);
	else if (!has_root(opened->provider, &err) ||
	         !list_all(opened->provider, &cursor, &text, &err))
		resource_error(call, &err);
	else
		mcp_call_result_text(call, &text);
	buf_release(&text);
	opened_put(opened);
}

void resources_templates(struct mcp_call *call, void *serve)
{
	(void)serve;
	mcp_call_result(call, json_pack("{s:[{s:s, s:s, s:s, s:s}]}", "resourceTemplates",
	                                "uriTemplate", "file:///{path}", "name", "file", "title",
	                                "File of the workspace", "description",
	                                "A file by its absolute path, without the slash at its "
	                                "beginning."));
}

/* ---- contents --------------------------------------------------------------- */

static const char *text_mime(const char *path)
{
	const char *mime = mime_of_name(path);
	bool textual = mime && (strncmp(mime, "text/", 5) == 0 || strstr(mime, "json") ||
	                        strstr(mime, "xml") || strstr(mime, "toml") ||
	                        strstr(mime, "yaml") || strstr(mime, "sql"));

	return textual ? mime : "text/plain";
}

static json_t *contents_of(struct conversation *conversation, const struct read_result *read)
{
	struct session session = *conversation_session(conversation);
	_cleanup_buf_ struct buf uri = BUF_INIT(URI_MAX);
	struct span bytes = buf_view(&read->content);
	bool text = read->kind == READ_TEXT;
	json_t *contents = json_object();
	json_t *meta = json_object();

	uri_from_path(&uri, read->state.path);
	json_object_set_new(contents, "uri", json_text(buf_view(&uri)));
	json_object_set_new(contents, "mimeType",
	                    json_string(text ? text_mime(read->state.path) : read->mime_type));
	json_object_set_new(contents, text ? "text" : "blob",
	                    text ? json_text(bytes) : json_base64(bytes));
	json_object_set_new(meta, "hasp/version", json_size(session_next_version(&session)));
	json_object_set_new(meta, "hasp/sha256", json_sha256(&read->state.sha256));
	json_object_set_new(contents, "_meta", meta);
	return contents;
}

bool resources_contents(struct conversation *conversation, struct provider *provider,
                        const char *path, json_t **ret, struct err *err)
{
	struct read_request request = {
		.path = path,
		.whole = true,
		.raw = true,
		.max_file_bytes = LIMIT_MEDIA_BYTES,
	};
	struct read_result read = { 0 };
	bool ok = provider_read(provider, &request, &read, err);

	if (ok)
		*ret = contents_of(conversation, &read);
	read_result_release(&read);
	return ok;
}

void resources_read(struct mcp_call *call, void *serve)
{
	struct conversation *conversation = mcp_call_session(call);
	struct opened_workspace *opened = conversation_open(conversation, call);
	_cleanup_free_ char *path = NULL;
	struct err err = ERR_INIT;
	json_t *contents = NULL;

	(void)serve;
	conversation_announce(conversation, call);
	if (uri_to_path(mcp_call_uri(call), &path, &err) &&
	    resources_contents(conversation, opened->provider, path, &contents, &err))
		mcp_call_result(call, json_pack("{s:[o]}", "contents", contents));
	else
		resource_error(call, &err);
	opened_put(opened);
}
