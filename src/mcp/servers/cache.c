/* SPDX-License-Identifier: Apache-2.0 */
/* What servers declared last time, so that it need not be asked for before the first prompt:
 *
 *     { NAME: { "hash": HASH, "tools": [...], "offers": {...} }, ... }
 *
 * Of a server that had declared nothing when the session stopped waiting for it, {"hash", "late":
 * true}: the next session does not wait as long again.
 *
 * Tools and offers are what was kept of them (mcp_declaration_clean, mcp_offers_clean): schemas are
 * texts, since reading those of hundreds of tools would hold up the first prompt.  A separate file,
 * mode 0600, where no command may write; its contents are still checked like a server's messages
 * (mcp_declaration_recall).  A file that cannot be read or written is no error: the servers are
 * asked instead. */
#include "base/fd.h"
#include "base/file.h"
#include "base/limits.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/servers/kept.h"

enum { CACHE_DEPTH_MAX = 64, CACHE_LOCK_MS = 500 };

json_t *mcp_cache_load(const char *file)
{
	struct file_text text = { 0 };
	struct err ignored = ERR_INIT;
	json_t *all = NULL;

	if (file_read(file, LIMIT_MCP_CACHE_BYTES, &text, &ignored) && text.data)
		json_parse_depth(file_text_span(&text), CACHE_DEPTH_MAX, &all, &ignored);
	file_text_release(&text);
	if (json_is_object(all))
		return all;
	json_decref(all);
	return json_object();
}

json_t *mcp_cache_find(const json_t *all, const char *name, const char *hash)
{
	json_t *known = json_object_get(all, name);

	if (!json_is_array(json_object_get(known, "tools")) ||
	    !json_is_object(json_object_get(known, "offers")) ||
	    !span_eq(json_span(json_object_get(known, "hash")), span_str(hash)))
		return NULL;
	return known;
}

bool mcp_cache_was_late(const json_t *all, const char *name, const char *hash)
{
	const json_t *known = json_object_get(all, name);

	return json_is_true(json_object_get(known, "late")) &&
	       span_eq(json_span(json_object_get(known, "hash")), span_str(hash));
}

void mcp_cache_write(const char *file, const char *name, const char *hash, const json_t *tools,
                     const json_t *offers)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MCP_CACHE_BYTES);
	/* Written even without the lock: a lost entry is fetched from the server again. */
	_cleanup_fd_ int lock = file_lock_next_to(file, CACHE_LOCK_MS);
	json_auto_t *all = mcp_cache_load(file);
	json_auto_t *known =
		tools ? json_pack("{s:s, s:O, s:O}", "hash", hash, "tools", (json_t *)tools,
	                          "offers", (json_t *)offers) :
			json_pack("{s:s, s:b}", "hash", hash, "late", true);
	struct err ignored = ERR_INIT;

	(void)lock;
	json_object_set(all, name, known);
	if (!json_print(&out, all, 0)) {
		json_object_clear(all);
		buf_clear(&out);
		json_object_set(all, name, known);
		if (!json_print(&out, all, 0))
			return;
	}
	file_replace(file, buf_view(&out), 0600, &ignored);
}
