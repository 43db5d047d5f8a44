/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/offer/calls.h"
#include "mcp/offer/offer.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "data/json.h"
#include "tool/answer.h"

static const char media_message[] = "The content is the block of this answer that follows.";
static const char media_many_message[] =
	"The content is among the blocks of this answer that follow, in the order of the files.";

/* Appends {"uri": ..., "mimeType": ..., "blob": ...} of a file that holds no text. */
static void print_blob(struct buf *out, const json_t *file, const json_t *data)
{
	_cleanup_buf_ struct buf uri = BUF_INIT(LIMIT_PATH_BYTES * 4);
	const char *shown = json_string_value(json_object_get(file, "file_path"));
	_cleanup_free_ char *path = name_from_shown(shown ? shown : "/");

	uri_from_path(&uri, path);
	buf_str(out, "{\"uri\":");
	json_print_string(out, buf_view(&uri));
	buf_str(out, ",\"mimeType\":");
	json_print(out, json_object_get(file, "mime_type"), 0);
	buf_str(out, ",\"blob\":");
	json_print(out, data, 0);
	buf_char(out, '}');
}

/* Appends ",{...}": the block of one file that came with data. */
static void print_media(struct buf *out, const json_t *file, const json_t *data)
{
	struct span mime = json_span(json_object_get(file, "mime_type"));
	bool image = span_starts(mime, SPAN("image/"));

	if (!image && !span_starts(mime, SPAN("audio/"))) {
		buf_str(out, ",{\"type\":\"resource\",\"resource\":");
		print_blob(out, file, data);
		buf_char(out, '}');
		return;
	}
	buf_printf(out, ",{\"type\":\"%s\",\"mimeType\":", image ? "image" : "audio");
	json_print_string(out, mime);
	buf_str(out, ",\"data\":");
	json_print(out, data, 0);
	buf_char(out, '}');
}

/* Moves the data of a file out of it, and into a block. */
static void move_media(json_t *file, const char *message, struct buf *blocks)
{
	json_t *data = json_object_get(file, "data");

	if (!json_is_string(data) || !json_is_string(json_object_get(file, "mime_type")))
		return;
	print_media(blocks, file, data);
	json_object_del(file, "data");
	json_object_set_new(file, "message", json_string(message));
}

static void rewrite_member(json_t *object, const char *name, const struct offered_names *names)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	const json_t *value = json_object_get(object, name);

	if (json_is_string(value) && names_rewrite(names, json_span(value), &text))
		json_object_set_new(object, name, json_text(buf_view(&text)));
}

/* hasp's own sentences speak of other tools by the names they have here. */
static void rewrite_sentences(json_t *result, const struct offered_names *names)
{
	json_t *error = json_object_get(result, "error");

	rewrite_member(result, "message", names);
	rewrite_member(result, ANSWER_LEFT_OUT, names);
	rewrite_member(json_object_get(result, "latest_file_state"), "content_omitted", names);
	if (error) {
		rewrite_member(error, "message", names);
		rewrite_member(error, "advice", names);
	}
}

/* The parts of a list or of apply_changes, as far as they have media or sentences. */
static void prepare_elements(json_t *list, const struct offered_names *names, struct buf *blocks)
{
	size_t i;
	json_t *element;

	json_array_foreach(list, i, element) {
		move_media(element, media_many_message, blocks);
		if (names->changed)
			rewrite_sentences(element, names);
	}
}

static void prepare_result(json_t *result, const struct offered_names *names, struct buf *blocks)
{
	if (json_is_array(result)) {
		prepare_elements(result, names, blocks);
		return;
	}
	move_media(result, media_message, blocks);
	prepare_elements(json_object_get(result, "pictures"), names, blocks);
	if (!names->changed)
		return;
	rewrite_sentences(result, names);
	prepare_elements(json_object_get(result, "changes"), names, blocks);
}

/* Appends ",{...}": a block that says what escapes in the result stand for. */
static void print_note(struct buf *out, size_t unseen)
{
	json_auto_t *note = tool_unseen_note(unseen);

	buf_str(out, ",{\"type\":\"text\",\"text\":");
	json_print(out, note, 0);
	buf_char(out, '}');
}

bool result_print(json_t *result, const struct offered_names *names, const char *level,
                  struct buf *raw, struct buf *out)
{
	_cleanup_buf_ struct buf blocks = BUF_INIT(out->max);
	bool failed = tool_result_failed(result);
	bool list = json_is_array(result);
	json_auto_t *shown = NULL;
	size_t unseen = 0;
	bool ok;

	prepare_result(result, names, &blocks);
	shown = json_show_unseen(result, &unseen);
	if (unseen)
		print_note(&blocks, unseen);
	if (list)
		buf_str(raw, "{\"" RESULT_LIST "\":");
	ok = json_print(raw, shown, 0);
	if (list)
		buf_char(raw, '}');
	/* Room for both copies; text that is escaped twice grows a little more. */
	buf_reserve(out, raw->len * 2 + raw->len / 8 + blocks.len + 128);
	buf_str(out, "{\"content\":[{\"type\":\"text\",\"text\":");
	json_print_string(out, buf_view(raw));
	buf_char(out, '}');
	buf_span(out, buf_view(&blocks));
	buf_str(out, "],\"structuredContent\":");
	buf_span(out, buf_view(raw));
	if (level)
		buf_printf(out, ",\"_meta\":{\"" RESULT_META_SANDBOX "\":\"%s\"}", level);
	buf_str(out, failed ? ",\"isError\":true}" : "}");
	return ok && !raw->overflowed && !blocks.overflowed && !out->overflowed;
}
