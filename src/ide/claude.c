/* SPDX-License-Identifier: Apache-2.0 */
/* Claude Code's protocol, which its plug-ins for VS Code and JetBrains have, and plug-ins for
 * Neovim and Emacs: MCP over a WebSocket, with a token in a header.  openDiff returns when the user
 * has decided.
 *
 * Source: claudecode.nvim PROTOCOL.md, lua/claudecode/{server,tools,diff}. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "data/json.h"
#include "ide/private.h"

/* Editors close tabs with these marks and this name alone: they are the protocol's. */
static char *tab_name(const struct ide_diff *diff)
{
	const char *slash = strrchr(diff->path, '/');
	struct sha256 sum = sha256_of(diff->content);
	char hex[SHA256_HEX_SIZE];

	sha256_hex(&sum, hex);
	return mem_printf("\u273b [Claude Code] %s (%.6s) \u29c9", slash ? slash + 1 : diff->path,
	                  hex);
}

static bool claude_review(struct ide_link *link, const struct ide_diff *diff,
                          const struct cancel *cancel, struct ide_verdict *ret, struct err *err)
{
	_cleanup_free_ char *tab = tab_name(diff);
	struct err why = ERR_INIT, ignored = ERR_INIT;
	json_auto_t *result = NULL, *closed = NULL;

	result = ide_link_call(link, "openDiff",
	                       json_pack("{s:o, s:o, s:o, s:o}", "old_file_path",
	                                 json_cstr(diff->path), "new_file_path",
	                                 json_cstr(diff->path), "new_file_contents",
	                                 json_text(diff->content), "tab_name", json_cstr(tab)),
	                       0, cancel, &why);
	if (result) {
		/* What the editor answered; anything else decides nothing. */
		const struct span word = ide_result_text(result, 0);
		const json_t *content = json_object_get(result, "content");

		if (span_eq(word, SPAN("FILE_SAVED")) && ide_result_text(result, 1).data)
			ide_verdict_accept(ret,
			                   json_object_get(json_array_get(content, 1), "text"));
		else if (span_eq(word, SPAN("DIFF_REJECTED")))
			ret->answer = IDE_REJECTED;
	}
	if (!mcp_client_lost(link->client))
		closed = ide_link_call(link, "close_tab", json_pack("{s:s}", "tab_name", tab),
		                       IDE_ANSWER_MS, NULL, &ignored);
	if (result || why.code == ERR_CANCELLED)
		return true;
	*err = why;
	return false;
}

const struct ide_link_kind ide_claude = {
	.scheme = "ws", .path = "/", .header = "x-claude-code-ide-authorization: ",
	.is_websocket = true, .diff_tools = { "openDiff" }, .review = claude_review,
};
