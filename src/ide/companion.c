/* SPDX-License-Identifier: Apache-2.0 */
/* Gemini CLI's companion: MCP over HTTP, with a bearer token.  openDiff returns when the diff is
 * shown; what becomes of it is a notification that names the file.
 *
 * Source: gemini-cli docs/ide-integration/ide-companion-spec.md. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "ide/private.h"

/* A diff that is not shown was not asked about: what is said of it decides nothing. */
static bool companion_noticed(struct ide_link *link, const char *method, const json_t *params)
{
	const bool accepted = !strcmp(method, "ide/diffAccepted");

	/* ide/diffClosed is what older companions send when it is closed without an answer. */
	if (!accepted && strcmp(method, "ide/diffRejected") != 0 &&
	    strcmp(method, "ide/diffClosed") != 0)
		return false;
	pthread_mutex_lock(&link->lock);
	if (link->shown &&
	    span_eq(json_span(json_object_get(params, "filePath")), span_str(link->shown->path))) {
		const bool ok = accepted && ide_verdict_accept(&link->verdict,
		                                json_object_get(params, "content"));

		if (!accepted)
			link->verdict.answer = IDE_REJECTED;
		if (ok || !accepted)
			link->shown = NULL;
	}
	if (!link->shown)
		cancel_set(&link->decided);
	pthread_mutex_unlock(&link->lock);
	return true;
}

static void companion_take(struct ide_link *link, struct ide_verdict *ret)
{
	pthread_mutex_lock(&link->lock);
	link->shown = NULL;
	*ret = link->verdict;
	link->verdict = (struct ide_verdict){ .answer = IDE_NO_ANSWER };
	pthread_mutex_unlock(&link->lock);
}

static void companion_await(struct ide_link *link, const struct cancel *cancel)
{
	struct pollfd ends[] = {
		{ .fd = cancel_fd(&link->decided), .events = POLLIN },
		{ .fd = cancel_fd(cancel), .events = POLLIN },
	};

	while (!cancelled(&link->decided) && !cancelled(cancel))
		if (poll(ends, 2, cancel_wait_ms(cancel, -1)) < 0 && errno != EINTR)
			return;
}

static bool companion_review(struct ide_link *link, const struct ide_diff *diff,
                             const struct cancel *cancel, struct ide_verdict *ret,
                             struct err *err)
{
	struct err ignored = ERR_INIT;
	json_auto_t *opened = NULL, *closed = NULL;

	pthread_mutex_lock(&link->lock);
	free(link->verdict.content);
	link->verdict = (struct ide_verdict){ .answer = IDE_NO_ANSWER };
	link->shown = diff;
	cancel_reset(&link->decided);
	pthread_mutex_unlock(&link->lock);
	opened = ide_link_call(link, "openDiff",
	                       json_pack("{s:o, s:o}", "filePath", json_cstr(diff->path),
	                                 "newContent", json_text(diff->content)),
	                       IDE_ANSWER_MS, cancel, err);
	if (opened)
		companion_await(link, cancel);
	companion_take(link, ret);
	/* One that was answered is closed already. */
	if (ret->answer == IDE_NO_ANSWER)
		closed = ide_link_call(link, "closeDiff",
		                       json_pack("{s:o, s:b}", "filePath", json_cstr(diff->path),
		                                 "suppressNotification", 1),
		                       IDE_ANSWER_MS, NULL, &ignored);
	return opened != NULL;
}

const struct ide_link_kind ide_companion = {
	.scheme = "http", .path = "/mcp", .header = "Authorization: Bearer ",
	.diff_tools = { "openDiff", "closeDiff" },
	.review = companion_review, .noticed = companion_noticed,
};
