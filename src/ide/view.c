/* SPDX-License-Identifier: Apache-2.0 */
#include "ide/view.h"

#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"

enum {
	CONSIDERED_MAX = 1000,     /* files of one notification */
	PATH_SHOWN = 4 * PATH_MAX, /* with its escapes */
	TEXT_MAX = 256 << 10,
};

/* A file as it is shown to the model. */
struct view_file {
	char *path;       /* owned; one line */
	double timestamp;
	size_t order;     /* in the notification */
	const json_t *from;
};

struct ide_view {
	pthread_mutex_t lock;
	char *files[LIMIT_IDE_OPEN_FILES]; /* owned; the active one first, if there is one */
	size_t file_count;
	bool is_active;                    /* the first is */
	json_int_t line, character;        /* of the cursor there, from 1; 0: not known */
	json_int_t last_line;              /* of the selection; 0: it begins and ends at `line` */
	char *selected;                    /* owned; NULL: nothing is */
	bool is_cut;
	char *mentions[LIMIT_IDE_MENTIONS]; /* owned */
	size_t mention_count;
};

/* ---- life ------------------------------------------------------------------------- */

struct ide_view *ide_view_new(void)
{
	struct ide_view *view = mem_alloc(1, sizeof(*view));

	pthread_mutex_init(&view->lock, NULL);
	return view;
}

/* With the lock. */
static void forget_files(struct ide_view *view)
{
	/* With the lock. */
	free(mem_steal(&view->selected));
	view->line = view->character = view->last_line = 0;
	view->is_active = view->is_cut = false;
	while (view->file_count)
		free(view->files[--view->file_count]);
}

/* With the lock. */
static void forget_mentions(struct ide_view *view)
{
	while (view->mention_count)
		free(view->mentions[--view->mention_count]);
}

void ide_view_clear(struct ide_view *view)
{
	pthread_mutex_lock(&view->lock);
	forget_files(view);
	forget_mentions(view);
	pthread_mutex_unlock(&view->lock);
}

void ide_view_free(struct ide_view *view)
{
	if (!view)
		return;
	ide_view_clear(view);
	pthread_mutex_destroy(&view->lock);
	free(view);
}

/* ---- what editors send -------------------------------------------------------------- */

/* An absolute path as one line; NULL: it is none. The caller frees. */
static char *shown_file_path(const json_t *said)
{
	struct span path = json_span(said);
	_cleanup_buf_ struct buf line = BUF_INIT(PATH_SHOWN);

	if (!path.len || path.data[0] != '/' || path.len >= PATH_MAX)
		return NULL;
	name_line(&line, path);
	return buf_steal(&line);
}

/* A number from 1 up; 0: it is none. */
static json_int_t read_place(const json_t *said, json_int_t add)
{
	const double value = json_number_value(said) + (double)add;

	return json_is_number(said) && value >= 1 && value <= INT32_MAX ? (json_int_t)value : 0;
}

/* With the lock. */
static void take_selected(struct ide_view *view, const json_t *said)
{
	struct span text = json_span(said), head = utf8_head(text, LIMIT_IDE_SELECTION_BYTES);

	if (!text.len)
		return;
	view->selected = mem_dup(head.data, head.len);
	view->is_cut = head.len < text.len;
}

static int compare_view_files(const void *a, const void *b)
{
	const struct view_file *x = a, *y = b;

	if (x->timestamp != y->timestamp)
		return x->timestamp > y->timestamp ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* The files of a notification, the one that was used last first. */
static size_t read_view_files(const json_t *said, struct view_file *ret)
{
	size_t count = 0, i;
	json_t *file;

	json_array_foreach((json_t *)said, i, file) {
		char *path;

		if (i >= CONSIDERED_MAX)
			break;
		path = shown_file_path(json_object_get(file, "path"));
		if (path)
			ret[count++] = (struct view_file){
				.path = path, .order = i, .from = file,
				.timestamp = json_number_value(json_object_get(file, "timestamp")),
			};
	}
	qsort(ret, count, sizeof(*ret), compare_view_files);
	return count;
}

/* Gemini CLI's (gemini-cli packages/core/src/ide/ideContext.ts). */
static char *take_context(struct ide_view *view, const json_t *params)
{
	const json_t *state = json_object_get(params, "workspaceState");
	const json_t *said = json_object_get(state, "openFiles");
	const size_t most = json_array_size(said) < CONSIDERED_MAX ? json_array_size(said) :
	                                                            CONSIDERED_MAX;
	_cleanup_free_ struct view_file *files = mem_alloc(most + 1, sizeof(*files));
	const size_t count = read_view_files(said, files);

	forget_files(view);
	for (size_t i = 0; i < count; i++)
		if (view->file_count < LIMIT_IDE_OPEN_FILES)
			view->files[view->file_count++] = files[i].path;
		else
			free(files[i].path);
	if (count && json_is_true(json_object_get(files[0].from, "isActive"))) {
		const json_t *cursor = json_object_get(files[0].from, "cursor");

		view->is_active = true;
		view->line = read_place(json_object_get(cursor, "line"), 0);
		view->character = read_place(json_object_get(cursor, "character"), 0);
		take_selected(view, json_object_get(files[0].from, "selectedText"));
	}
	return NULL;
}

/* Claude Code's: the place is counted from 0. */
static char *take_selection(struct ide_view *view, const json_t *params)
{
	const json_t *selection = json_object_get(params, "selection");
	const json_t *start = json_object_get(selection, "start");
	char *path = shown_file_path(json_object_get(params, "filePath"));

	forget_files(view);
	if (!path)
		return NULL;
	view->files[view->file_count++] = path;
	view->is_active = true;
	view->line = read_place(json_object_get(start, "line"), 1);
	view->character = read_place(json_object_get(start, "character"), 1);
	if (!json_is_true(json_object_get(selection, "isEmpty"))) {
		view->last_line = read_place(
			json_object_get(json_object_get(selection, "end"), "line"), 1);
		take_selected(view, json_object_get(params, "text"));
	}
	return NULL;
}

static char *take_mention(struct ide_view *view, const json_t *params)
{
	_cleanup_free_ char *path = shown_file_path(json_object_get(params, "filePath"));
	const json_int_t first = read_place(json_object_get(params, "lineStart"), 1);
	const json_int_t last = read_place(json_object_get(params, "lineEnd"), 1);
	char *mention;

	if (!path || view->mention_count >= LIMIT_IDE_MENTIONS)
		return NULL;
	mention = !first ? mem_strdup(path) :
	          first == last || !last ?
	                   mem_printf("%s, line %lld", path, (long long)first) :
	                   mem_printf("%s, lines %lld-%lld", path, (long long)first,
	                              (long long)last);
	view->mentions[view->mention_count++] = mention;
	return mem_strdup(mention);
}

bool ide_view_take(struct ide_view *view, const char *method, const json_t *params,
                   char **ret_mention)
{
	static const struct {
		const char *method;
		char *(*take)(struct ide_view *view, const json_t *params);
	} rows[] = {
		{ "ide/contextUpdate", take_context },
		{ "selection_changed", take_selection },
		{ "at_mentioned", take_mention },
	};

	*ret_mention = NULL;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (strcmp(rows[i].method, method) != 0)
			continue;
		pthread_mutex_lock(&view->lock);
		*ret_mention = rows[i].take(view, params);
		pthread_mutex_unlock(&view->lock);
		return true;
	}
	return false;
}

/* ---- for the model -------------------------------------------------------------------- */

/* With the lock. */
static void put_active(const struct ide_view *view, struct buf *out)
{
	buf_printf(out, "Active file: %s", view->files[0]);
	if (view->line)
		buf_printf(out, ", cursor in line %lld", (long long)view->line);
	if (view->line && view->character)
		buf_printf(out, ", column %lld", (long long)view->character);
	buf_str(out, "\n");
	if (!view->selected)
		return;
	buf_str(out, "Selected text");
	if (view->last_line > view->line)
		buf_printf(out, " (lines %lld-%lld)", (long long)view->line,
		           (long long)view->last_line);
	buf_printf(out, "%s:\n%s\n", view->is_cut ? ", truncated" : "", view->selected);
}

char *ide_view_text(struct ide_view *view, const char *editor)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TEXT_MAX);
	char *text = NULL;

	pthread_mutex_lock(&view->lock);
	if (view->file_count) {
		buf_printf(&out, "What the user's editor (%s) shows now. It is context, not a "
		           "request.\n", editor);
		if (view->is_active)
			put_active(view, &out);
		for (size_t i = view->is_active; i < view->file_count; i++)
			buf_printf(&out, "%s%s", i == view->is_active ? "Open files: " : ", ",
			           view->files[i]);
		text = buf_steal(&out);
	}
	pthread_mutex_unlock(&view->lock);
	return text;
}

char *ide_view_mentions(struct ide_view *view)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TEXT_MAX);
	char *text = NULL;

	pthread_mutex_lock(&view->lock);
	for (size_t i = 0; i < view->mention_count; i++)
		buf_printf(&out, "%s%s", i ? "\n" : "The user points at: ", view->mentions[i]);
	if (view->mention_count)
		text = buf_steal(&out);
	forget_mentions(view);
	pthread_mutex_unlock(&view->lock);
	return text;
}

char *ide_view_summary(struct ide_view *view)
{
	char *text = NULL;

	pthread_mutex_lock(&view->lock);
	if (view->file_count && view->is_active)
		text = mem_printf("%s%s", view->files[0],
		                  view->selected ? ", with a selection" : "");
	else if (view->file_count)
		text = mem_printf("%zu open files", view->file_count);
	pthread_mutex_unlock(&view->lock);
	return text;
}
