/* SPDX-License-Identifier: Apache-2.0 */
/* How each tool was declared, and by which program or address, when a person or a rule last allowed
 * a call of it:
 *
 *     { SERVER: { TOOL: { "title": HASH, "description": HASH, "arguments": HASH, "hints": HASH,
 *                         "server": HASH, "own": whether the user named that server,
 *                         "text": what a person would be shown of it } } }
 *
 * Another server under the name of one that was allowed is no change if the user configured both:
 * the new command stands in the same settings as the trust in it.
 *
 * A separate file, not part of the cache (cache.c): what a server sends decides which entries the
 * cache drops, and must not decide which approvals are forgotten.  Mode 0600, where no command may
 * write.  If it cannot be read, every tool counts as new. */
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"
#include "diff/diff.h"
#include "mcp/client/client.h"
#include "mcp/declared/declared.h"
#include "mcp/servers/kept.h"

enum {
	APPROVAL_DEPTH_MAX = 8,
	APPROVAL_TEXT_BYTES = 8 << 10, /* kept of one declaration, to show what it was */
	APPROVAL_CONTEXT = 1,
	SERVER_HEX_SHOWN = 12,         /* digits of a hash: arguments may hold secrets */
	APPROVAL_LOCK_MS = 2000,       /* the longest wait for another process that writes it */
};

/* What a declaration is made of: the member, and its name in approvals and sentences. */
static const struct {
	const char *member, *part;
} parts[] = {
	{ "title", "title" },
	{ "description", "description" },
	{ "inputSchema", "arguments" },
	{ "annotations", "hints" },
};

#define SERVER_PART "server"
#define SERVER_WORDS "program or address" /* the same in sentences */

/* ---- one declaration ---- */

/* The same whatever the order of members is. */
static json_t *part_hash(const json_t *part)
{
	char *text = json_dumps(part, JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY);
	const struct sha256 sum = sha256_of(span_str(text ? text : ""));
	char hex[SHA256_HEX_SIZE];

	free(text);
	sha256_hex(&sum, hex);
	return json_string(hex);
}

static void put_approved_part(struct buf *out, const char *name, const json_t *part)
{
	if (json_is_string(part) ? !json_string_length(part) : !json_object_size(part))
		return;
	buf_printf(out, "%s:\n", name);
	if (json_is_string(part))
		buf_span(out, json_span(part));
	else
		json_print(out, part, 2);
	buf_char(out, '\n');
}

json_t *mcp_approval_of(const struct mcp_approval_server *server, const json_t *declaration)
{
	_cleanup_buf_ struct buf text = BUF_INIT(16 * MCP_SCHEMA_BYTES);
	struct err ignored = ERR_INIT;
	/* What comes out of the cache was cleaned twice: escapes make a text longer, and it may be
	 * truncated again.  After the second time it is stable. */
	json_auto_t *settled = mcp_declaration_recall((json_t *)declaration, &ignored);
	json_auto_t *from = json_copy(settled ? settled : (json_t *)declaration);
	json_t *approval = json_object();

	json_object_set_new(from, "inputSchema", mcp_declaration_schema(from));
	json_object_set_new(approval, SERVER_PART, json_string(server->identity));
	if (server->users)
		json_object_set_new(approval, "own", json_true());
	/* The digits distinguish servers with the same program or address. */
	buf_str(&text, SERVER_WORDS ":\n");
	name_line(&text, json_span(server->what));
	buf_printf(&text, " (with all arguments: %.*s)\n", SERVER_HEX_SHOWN, server->identity);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const json_t *part = json_object_get(from, parts[i].member);

		json_object_set_new(approval, parts[i].part, part_hash(part));
		put_approved_part(&text, parts[i].part, part);
	}
	json_object_set_new(approval, "text",
	                    json_text(utf8_head(buf_view(&text), APPROVAL_TEXT_BYTES)));
	return approval;
}

/* Earlier versions wrote down no server: it may be any. */
static bool is_of_same_server(const json_t *before, const json_t *now)
{
	const json_t *server = json_object_get(before, SERVER_PART);

	return !server || json_equal(server, json_object_get(now, SERVER_PART)) ||
	       (json_object_get(before, "own") && json_object_get(now, "own"));
}

bool mcp_approval_eq(const json_t *before, const json_t *now)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (!json_equal(json_object_get(before, parts[i].part),
		                json_object_get(now, parts[i].part)))
			return false;
	return is_of_same_server(before, now);
}

bool mcp_approval_is_kept(const json_t *before, const json_t *now)
{
	return mcp_approval_eq(before, now) &&
	       json_equal(json_object_get(before, SERVER_PART),
	                  json_object_get(now, SERVER_PART)) &&
	       !json_object_get(before, "own") == !json_object_get(now, "own");
}

/* With the signs of a diff, without its headers. */
static void put_changed_lines(struct span before, struct span now, struct buf *out)
{
	const struct script_print_options how = { .context = APPROVAL_CONTEXT };
	_cleanup_lines_ struct lines old_lines = { 0 }, new_lines = { 0 };
	_cleanup_script_ struct script script = { 0 };
	_cleanup_buf_ struct buf diff = BUF_INIT(8 * APPROVAL_TEXT_BYTES);
	struct span rest, line;

	lines_index(&old_lines, before);
	lines_index(&new_lines, now);
	diff_lines(&old_lines, &new_lines, &script);
	script_print(&diff, &old_lines, &script, &how);
	rest = buf_view(&diff);
	while (line_next(&rest, &line))
		if (!span_starts(line, SPAN("@@")) && !span_starts(line, SPAN("\\")))
			buf_printf(out, "%.*s\n", (int)line_body(line).len, line.data);
}

void mcp_approval_compare(const json_t *before, const json_t *now, struct tool_change *ret)
{
	_cleanup_buf_ struct buf names = BUF_INIT(256), lines = BUF_INIT(16 * APPROVAL_TEXT_BYTES);
	const struct span was = json_span(json_object_get(before, "text"));
	const struct span is = json_span(json_object_get(now, "text"));

	/* "description, hints". */
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (!json_equal(json_object_get(before, parts[i].part),
		                json_object_get(now, parts[i].part)))
			buf_printf(&names, "%s%s", names.len ? ", " : "", parts[i].part);
	if (!is_of_same_server(before, now))
		buf_printf(&names, "%s" SERVER_WORDS, names.len ? ", " : "");
	put_changed_lines(was, is, &lines);
	if (!lines.len)
		buf_printf(&lines, "(beyond the first %d bytes)\n", APPROVAL_TEXT_BYTES);
	ret->parts = buf_steal(&names);
	ret->lines = buf_steal(&lines);
}

/* ---- all of them ---- */

json_t *mcp_approvals_read(const char *file)
{
	struct file_text text = { 0 };
	struct err ignored = ERR_INIT;
	json_t *all = NULL;

	if (file && file_read(file, LIMIT_MCP_CACHE_BYTES, &text, &ignored) && text.data)
		json_parse_depth(file_text_span(&text), APPROVAL_DEPTH_MAX, &all, &ignored);
	file_text_release(&text);
	if (json_is_object(all))
		return all;
	json_decref(all);
	return json_object();
}

const json_t *mcp_approvals_get(const json_t *all, const char *server, const char *tool)
{
	const json_t *approval = json_object_get(json_object_get(all, server), tool);

	return json_is_object(approval) ? approval : NULL;
}

static void approvals_put(json_t *all, const char *server, const char *tool, json_t *approval)
{
	json_t *of_server = json_object_get(all, server);

	if (!json_is_object(of_server)) {
		of_server = json_object();
		json_object_set_new(all, server, of_server);
	}
	json_object_set(of_server, tool, approval);
}

/* The hashes are what counts. */
static void drop_texts(json_t *all)
{
	const char *server, *tool;
	json_t *of_server, *approval;

	json_object_foreach(all, server, of_server)
		json_object_foreach(of_server, tool, approval)
			json_object_del(approval, "text");
}

void mcp_approvals_set(json_t *all, const char *file, const char *server, const char *tool,
                       json_t *approval)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MCP_CACHE_BYTES);
	_cleanup_fd_ int lock = -1;
	json_auto_t *kept = NULL;
	struct err ignored = ERR_INIT;

	approvals_put(all, server, tool, approval);
	if (!file)
		return;
	/* Other sessions write there too.  Without the lock it is still written: the file is
	 * replaced as a whole, and at worst an approval from another session is asked for again. */
	lock = file_lock_next_to(file, APPROVAL_LOCK_MS);
	kept = mcp_approvals_read(file);
	approvals_put(kept, server, tool, approval);
	if (!json_print(&out, kept, 0)) {
		json_auto_t *bare = json_deep_copy(kept);

		drop_texts(bare);
		buf_clear(&out);
		if (!json_print(&out, bare, 0))
			return;
	}
	file_replace(file, buf_view(&out), 0600, &ignored);
}
