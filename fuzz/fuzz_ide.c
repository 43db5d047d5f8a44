/* SPDX-License-Identifier: Apache-2.0 */
/* What an editor writes and sends, as "NAME\nJSON": the file in which it says where it listens (NAME
 * is the file's), a notification (NAME is its method), or a list of problems.  A file counts only
 * with a port and a token that is one header's value; what a notification or a list brings to the
 * model is bounded text, and all problems of a list are new ones where there were none. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "ide/discover.h"
#include "ide/private.h"
#include "ide/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_announced(enum ide_kind kind, const char *name, struct span text)
{
	const struct ide_search search = { .workspace = "/", .temp = "/tmp" };
	struct ide_place place = { .kind = kind };

	ide_place_read(&place, name, text, &search);
	if (!place.refused && (!place.port || place.port > 65535 || !place.name || !place.token ||
	                       strpbrk(place.token, "\r\n")))
		abort();
	free(place.name);
	free(place.token);
	free(place.refused);
}

static void check_text(char *text)
{
	const size_t most = LIMIT_IDE_SELECTION_BYTES + 32 * 16384 + 1000;

	if (text && (!utf8_valid(span_str(text)) || strlen(text) > most))
		abort();
	free(text);
}

static void read_notification(const char *method, struct span text)
{
	struct ide_view *view = ide_view_new();
	json_auto_t *params = NULL;
	struct err ignored = ERR_INIT;
	char *mention = NULL;

	if (json_parse_foreign(text, 16, &params, NULL, &ignored)) {
		ide_view_take(view, method, params, &mention);
		check_text(mention);
		check_text(ide_view_text(view, "an editor"));
		check_text(ide_view_mentions(view));
		check_text(ide_view_summary(view));
	}
	ide_view_free(view);
}

struct shown {
	json_t *list; /* NULL: none yet */
};

/* As ide_problems_list. */
static bool list_shown(void *editor, const char *path, json_t **ret)
{
	struct shown *shown = editor;

	(void)path;
	*ret = shown->list ? json_incref(shown->list) : json_array();
	return true;
}

static void read_list(const char *path, struct span text)
{
	struct ide_problems *problems = ide_problems_new(list_shown);
	struct shown shown = { NULL };
	json_t *list = NULL;
	char *said;

	ide_problems_before(problems, &shown, path);
	if (ide_problems_read(text, &list)) {
		shown.list = list;
		said = ide_problems_after(problems, &shown, path, 0);
		if (!said != !json_array_size(list) && utf8_valid(span_str(path)))
			abort();
		check_text(said);
		ide_problems_announce(problems, list);
	}
	check_text(ide_problems_late(problems, &shown));
	json_decref(list);
	ide_problems_free(problems);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *end = memchr(data, '\n', size);
	const size_t len = end ? (size_t)(end - (const char *)data) : size;
	_cleanup_free_ char *name = mem_dup((const char *)data, len);
	const struct span rest = end ? span_of(end + 1, size - len - 1) : SPAN("");

	read_announced(IDE_COMPANION, name, rest);
	read_announced(IDE_CLAUDE, name, rest);
	read_notification(name, rest);
	read_list(name, rest);
	return 0;
}
