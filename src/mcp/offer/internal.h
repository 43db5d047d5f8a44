/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of this folder share. */
#ifndef HASP_MCP_OFFER_INTERNAL_H
#define HASP_MCP_OFFER_INTERNAL_H

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "mcp/offer/serve.h"
#include "net/loop/loop.h"

/* ---- roots ------------------------------------------------------------------- */

/* A list of workspace roots. */

struct roots {
	char **items; /* owned, and what they point to */
	size_t count;
};

/* ---- workspaces -------------------------------------------------------------- */

/* Providers that are open, one for each set of workspace roots, shared by all who use it.
 *
 *     struct opened *opened;
 *     if (!opened_get(table, roots, count, &opened, &err))
 *             opened = opened_broken(&err);         // every operation fails with err
 *     session.provider = opened->provider;
 *     ...
 *     opened_put(opened);                           // the last one closes it
 *
 * From any thread.
 */

struct opened_table;
struct turns;

struct opened {
	struct provider *provider;
	size_t recovered; /* crashed transactions that were put right when it was opened */
	size_t uses;      /* from here on: opened.c's own */
	char *name;       /* owned; its roots, in order; NULL: not in the table */
	struct opened_table *table;
	struct opened *next;
};

struct opened_table *opened_table_new(const struct serve_options *options); /* never NULL */
void opened_table_free(struct opened_table *table); /* nothing is in use; NULL is fine */

/* The provider of these roots, opened now if nobody has it; *ret_new (may be NULL) says whether.
 * The errors are those of serve_options.open. */
bool opened_get(struct opened_table *table, const char *const *roots, size_t count,
                struct opened **ret, bool *ret_new, struct err *err);
struct opened *opened_ref(struct opened *opened);
void opened_put(struct opened *opened); /* NULL is fine */

/* The name of the sandbox's level; NULL when the workspace could not be opened. */
const char *opened_level(const struct opened *opened);

/* A provider of which every operation fails with this error. */
struct opened *opened_broken(const struct err *why);

/* ---- edits that are begun ---------------------------------------------------- */

/* Edits that are begun on the loop's thread, and whose answers it takes, many with one wake-up.
 *
 *     struct begun_edit edit = { .arrived = on_arrival };
 *     begun_add(list, opened, &edit);       // when tool_call_begin has begun it
 *     begun_ready(&edit, here);             // hooks.ready; any thread
 *     ... edit.arrived(&edit, here), on the loop's thread, once: tool_call_end ...
 *
 * What is begun is sent when all that has arrived with it has been looked at.  Everything but
 * begun_ready is for the loop's thread.
 */

struct begun_list;

/* Embedded in the caller's object. */
struct begun_edit {
	/* Called once, on any thread, by begun_ready or call_begun_stop: sees to it that the loop's
	 * thread calls begun_remove soon. `here` as in provider.h. */
	void (*arrived)(struct begun_edit *edit, bool here);
	_Atomic bool reported; /* from here on: call.c's own */
	struct bell *bell;
	struct begun_edit *next, **at;
};

struct begun_list *call_begun_new(struct loop *loop); /* never NULL */
void call_begun_free(struct begun_list *list); /* nothing is begun; NULL is fine */

/* The loop takes nothing any more: all that is begun is to be ended by threads that wait, and no
 * workspace is kept open that nobody uses. */
void call_begun_stop(struct begun_list *list);

/* ---- watches ----------------------------------------------------------------- */

/* Files that clients have subscribed to.  Private to this folder; on the loop's thread.
 *
 * Clients with one workspace share the watch of a file, so that each of them gets a change once.
 */

struct watches;
struct watched; /* one file, for one client */

struct watches *offer_watches_new(void); /* never NULL */
void offer_watches_free(struct watches *watches); /* nothing is watched any more; NULL is fine */

/* Adds the file to a client's list (`list` points to its head). The errors of a path that
 * cannot be had, or of the provider. */
bool offer_watches_add(struct watches *watches, struct mcp_server *server, struct opened *opened,
                       const char *uri, struct watched **list, struct err *err);
/* Takes it off again; nothing happens if it is not there. */
void offer_watches_remove(struct watched **list, const char *uri);
void offer_watches_clear(struct watched **list);

/* ---- the offer --------------------------------------------------------------- */

/* One tool as it is offered; data of its handler. */
struct offered {
	struct serve *serve;
	const struct names_item *item;
	char *description, *input_schema, *output_schema, *annotations; /* owned */
	bool at_once; /* is tried on the loop's thread before it goes to the pool */
	bool begins;  /* is begun on the loop's thread, if no file of it is being edited */
};

/* What a result is printed to; empty between two results. */
struct paper {
	struct buf raw, text;
};
#define PAPER_INIT { BUF_INIT(LIMIT_MESSAGE_BYTES), BUF_INIT(LIMIT_MESSAGE_BYTES) }
enum { PAPER_KEPT = 256 << 10 };

/* Empties both; what is larger than `kept` is freed. */
static inline void paper_clear(struct paper *paper, size_t kept)
{
	struct buf *const bufs[] = { &paper->raw, &paper->text };

	for (size_t i = 0; i < 2; i++)
		if (bufs[i]->cap > kept)
			buf_release(bufs[i]);
		else
			buf_clear(bufs[i]);
}

struct serve {
	struct serve_options options;
	struct names names;
	struct offered *offered;  /* owned; one an item */
	struct mcp_tool *tools;   /* owned; likewise */
	char *instructions;       /* owned */
	char *prompts;            /* owned; JSON */
	struct mcp_offer offer;
	struct opened_table *table;
	struct turns *turns;
	struct begun_list *edits; /* that are begun */
	struct watches *watches;
	struct paper paper; /* for answers on the loop's thread */
	size_t begun; /* calls that are begun, and not ended; on the loop's thread */
	struct conversation *unsettled; /* those whose roots are not known; on the loop's thread */
	struct opened *kept; /* of options.roots: stays open between clients; or NULL */
};

/* names.c: fills the texts of `offered`. */
void offer_declare_tool(const struct names *names, struct offered *offered);
void offer_declare_release(struct offered *offered);

/* call.c */
void call_tool(struct mcp_call *call, void *offered);

/* confirm.c: asks about an edit or a command; `*pending` is set when the client has to come
 * back. */
bool confirm_ask(struct mcp_call *call, const struct names *names,
                 const struct tool_question *question, bool *pending, struct err *err);

/* resources.c */
void resources_list(struct mcp_call *call, void *serve);
void resources_templates(struct mcp_call *call, void *serve);
void resources_read(struct mcp_call *call, void *serve);
/* Appends the contents of a resource: {"uri": ..., "mimeType": ..., "text": ..., "_meta": ...}.
 * The file's state gets the conversation's next version. */
bool resources_contents(struct conversation *conversation, struct provider *provider,
                        const char *path, json_t **ret, struct err *err);

/* prompts.c */
char *prompts_declare(const struct names *names);   /* owned by the caller */
/* `confinement` as in serve_options. */
char *prompts_instructions(const struct names *names, const char *confinement);
void prompts_get(struct mcp_call *call, void *serve);

/* completion/complete. */
void prompts_complete_argument(struct mcp_call *call, void *serve);

/* ---- conversations ----------------------------------------------------------- */

/* What hasp has of one client: its version counter, its workspace, what it watches.
 *
 * The workspace is known at once when the server was given roots or the client is stateless
 * (then it is the server's roots, or the current folder).  Otherwise the client is asked for
 * its roots once it is ready, and whenever it says that they changed; calls that arrive
 * before the answer wait for it.  A workspace that is not used any more is closed when the
 * last call that uses it has ended.
 */

struct conversation;

/* A call that waits for the roots. Embedded in the caller's object. */
struct waiting {
	void (*go)(struct waiting *waiting); /* on the loop's thread */
	struct waiting *next;
};

/* struct mcp_offer has these. */
void *conversation_begin(void *serve, const struct mcp_session_info *info);
void conversation_ready(void *conversation, struct mcp_peer *peer);
void conversation_roots_changed(void *conversation, struct mcp_peer *peer);
void conversation_end(void *conversation);
bool conversation_subscribe(void *conversation, const char *uri, struct err *err);
void conversation_unsubscribe(void *conversation, const char *uri);

/* To be copied for each call, with a provider and hooks of its own. */
const struct session *conversation_session(const struct conversation *conversation);

/* On the loop's thread: whether the workspace is known; otherwise `go` is called when it is. With
 * a client that names no roots it is known at the first call. */
bool conversation_is_settled(struct conversation *conversation, const struct mcp_call *call);
void conversation_wait(struct conversation *conversation, struct waiting *waiting);
/* Does not wait for the client's roots any more: calls that did fail. */
void conversation_give_up(struct conversation *conversation);

/* The workspace of a call, opened if it is not, for the caller to put; one that is broken when
 * it cannot be opened.  On a pool's thread it waits until the workspace is known; on the
 * loop's it must be (`call` may then be NULL). */
struct opened *conversation_open(struct conversation *conversation, const struct mcp_call *call);
/* After a call that may have started commands: those of a workspace that is not the
 * conversation's any more are ended, then it is put. Not on the loop's thread. */
void conversation_put(struct conversation *conversation, struct opened *opened);

/* Sends what the client does not know yet: workspaces that were opened. */
void conversation_announce(struct conversation *conversation, struct mcp_call *call);

/* ---- file: URIs -------------------------------------------------------------- */

/* file: URIs and paths (RFC 8089; RFC 3986 for the escapes).
 *
 * Not here: whether a path lies in the workspace (file/workspace.h).
 */

/* The absolute path that the URI names; the caller frees *ret.  file:/path, file:///path and
 * file://localhost/path; a query or fragment is not a part of the path.  INVALID_ARGUMENT:
 * another scheme or host, a path that is not absolute, a broken escape, an escaped NUL, or
 * longer than LIMIT_PATH_BYTES. */
bool uri_to_path(const char *uri, char **ret, struct err *err);

/* Appends "file://" and the absolute path, with all but unreserved characters and '/' as %XX:
 * a path has exactly one such URI. */
bool uri_from_path(struct buf *out, const char *path);

/* ---- calls about one file ---------------------------------------------------- */

/* Calls about one file run one after the other, in the order in which they arrived; calls
 * about different files do not wait for each other.
 *
 *     struct turn turn = { .go = run_it };
 *     turns_take(turns, &turn, keys, count);   // calls go now, or when those before are done
 *     ...
 *     turns_done(turns, &turn);                // lets the next ones go
 *
 * No thread waits: a turn that cannot begin lies in a queue.  A turn with several keys begins
 * when it is the first in all their queues; as it enters them in one step, no two turns can
 * wait for each other.  Keys are any text; the caller makes equal what belongs together.
 */

struct turns;

/* Embedded in the caller's object, which must live until turns_done has returned. */
struct turn {
	/* Called once, without a lock, by turns_take or by another turn's turns_done on
	 * whatever thread that is: must be quick. */
	void (*go)(struct turn *turn);
	struct turn_place *places; /* from here on: turns' own */
	size_t place_count;
	size_t waits;              /* keys in whose queues others are before it */
	struct turn *next;
};

struct turns *turns_new(void); /* never NULL */
void turns_free(struct turns *turns); /* all turns are done; NULL is fine */

/* Keys may repeat; none: it goes at once. */
void turns_take(struct turns *turns, struct turn *turn, const char *const *keys, size_t count);
void turns_done(struct turns *turns, struct turn *turn);
/* Whether somebody has, or waits for, a turn with this key; or with any key. */
bool turns_busy(struct turns *turns, const char *key);
bool turns_any(struct turns *turns);

/* ---- results ----------------------------------------------------------------- */

/* From a tool's result to the result of tools/call.
 *
 * The JSON is printed once: it is structuredContent as it stands, and the text of the first
 * content block with escapes (which the specification asks for, for older clients).  A list is
 * wrapped in an object, {"files": [...]}, because structuredContent is an object.  Media
 * (the member `data` of a file) leave the JSON and follow as blocks of their own: image, audio,
 * or an embedded resource.
 *
 * Budget.  Which copy a model gets is the client's choice: some show it the text, some
 * structuredContent where it is there, some both.  A long member that stood in one copy alone
 * would be missing for the others, and structuredContent must fit the outputSchema and the text
 * be the same JSON.  So both copies are the same answer, made to fit half of the budget each.
 */

/* Tokens of one copy, of serve_options.answer_tokens; 0: no limit. */
static inline size_t result_tokens(size_t answer_tokens)
{
	return answer_tokens / 2 + answer_tokens % 2;
}

/* The member that holds the elements of a result that is a list. */
#define RESULT_LIST "files"

/* Members of `_meta` of a result: the sandbox's level ("full", ...). */
#define RESULT_META_SANDBOX "hasp/sandbox"

/* `result` is borrowed, and changed on the way; `level` goes to its _meta (NULL: none). Its JSON
 * is printed to `raw` (empty, as large as `out`) first. False when it is larger than `out` can
 * be. Who keeps both for the next result saves getting the memory anew. */
bool result_print(json_t *result, const struct names *names, const char *level, struct buf *raw,
                  struct buf *out);

#endif
