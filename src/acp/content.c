/* SPDX-License-Identifier: Apache-2.0 */
/* Content blocks of a prompt, as what hasp's prompts are made of: what the user says, in which @
 * names files that hasp reads by its own rules; texts that go with it word for word; media. */
#include <string.h>

#include "acp/private.h"
#include "agent/prompt/prompt.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "data/json.h"

/* ---- what is said ---------------------------------------------------------------- */

struct acp_reading {
	struct acp_content *content;
	bool mentioned; /* what is said ends in a mention, which a blank has to end */
};

static bool acp_byte_is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static void acp_say(struct acp_reading *reading, struct span text)
{
	if (reading->mentioned && text.len && !acp_byte_is_blank(text.data[0]))
		buf_char(&reading->content->said, ' ');
	reading->mentioned = false;
	buf_span(&reading->content->said, text);
}

/* Before an @, which counts only where no word ends. */
static void acp_say_gap(struct acp_reading *reading)
{
	const struct buf *said = &reading->content->said;

	if (reading->mentioned || (said->len && !acp_byte_is_blank(said->data[said->len - 1])))
		buf_char(&reading->content->said, ' ');
	reading->mentioned = false;
}

/* ---- blocks ---------------------------------------------------------------------- */

static bool acp_block_text(struct acp_reading *reading, const json_t *block, struct err *err)
{
	const json_t *text = json_object_get(block, "text");

	if (!json_is_string(text))
		return err_set(err, ERR_INVALID_ARGUMENT, "it has no text");
	acp_say(reading, json_span(text));
	return true;
}

static bool acp_is_base64(struct span data)
{
	for (size_t i = 0; i < data.len; i++)
		if (!ascii_is_alnum(data.data[i]) && data.data[i] != '+' && data.data[i] != '/' &&
		    !(data.data[i] == '=' && i + 2 >= data.len))
			return false;
	return data.len && data.len % 4 == 0;
}

static bool acp_add_media(struct acp_reading *reading, const json_t *type, const json_t *data,
                          struct err *err)
{
	if (!json_is_string(type) || !acp_is_base64(json_span(data)))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "it has no mimeType, or no data in base64");
	if (json_string_length(data) > LIMIT_MEDIA_BYTES / 3 * 4)
		return err_set(err, ERR_TOO_LARGE, "its data is larger than %zu bytes",
		               LIMIT_MEDIA_BYTES);
	json_array_append_new(reading->content->media,
	                      json_pack("{s:O, s:O}", "mime_type", type, "data", data));
	return true;
}

static bool acp_block_media(struct acp_reading *reading, const json_t *block, struct err *err)
{
	return acp_add_media(reading, json_object_get(block, "mimeType"),
	                     json_object_get(block, "data"), err);
}

/* A file is read as if the user had typed its name after an @; another address is named. */
static bool acp_block_link(struct acp_reading *reading, const json_t *block, struct err *err)
{
	const json_t *uri = json_object_get(block, "uri"), *name = json_object_get(block, "name");
	const struct span address = json_span(uri);
	const char *mark = address.len ? memchr(address.data, '#', address.len) : NULL;
	const size_t len = mark ? (size_t)(mark - address.data) : address.len;
	_cleanup_free_ char *path = path_of_address(span_head(address, len));

	if (!json_is_string(uri))
		return err_set(err, ERR_INVALID_ARGUMENT, "it has no uri");
	acp_say_gap(reading);
	if (!path || strchr(path, '\n')) {
		buf_printf(&reading->content->said, "[%s](%s)",
		           json_is_string(name) ? json_string_value(name) : "link",
		           json_string_value(uri));
		return true;
	}
	buf_char(&reading->content->said, '@');
	mention_put_path(&reading->content->said, span_str(path));
	reading->mentioned = true;
	if (len + 1 < address.len) { /* which editors use for lines */
		acp_say(reading, SPAN(" (lines "));
		acp_say(reading, span_skip(address, len + 1));
		acp_say(reading, SPAN(")"));
	}
	return true;
}

/* The editor has read it already, perhaps as it is not saved yet: it goes along as it is. */
static bool acp_block_resource(struct acp_reading *reading, const json_t *block, struct err *err)
{
	const json_t *resource = json_object_get(block, "resource");
	const json_t *uri = json_object_get(resource, "uri");
	const json_t *text = json_object_get(resource, "text");
	struct buf *piped = &reading->content->piped;

	if (!json_is_string(uri))
		return err_set(err, ERR_INVALID_ARGUMENT, "its resource has no uri");
	acp_say_gap(reading);
	buf_printf(&reading->content->said, "[%s]", json_string_value(uri));
	if (!json_is_string(text))
		return acp_add_media(reading, json_object_get(resource, "mimeType"),
		                     json_object_get(resource, "blob"), err);
	buf_printf(piped, "--- Content of %s ---\n", json_string_value(uri));
	buf_span(piped, json_span(text));
	buf_str(piped, span_ends(json_span(text), SPAN("\n")) ? "" : "\n");
	buf_printf(piped, "--- End of %s ---\n\n", json_string_value(uri));
	return true;
}

static bool acp_block_read(struct acp_reading *reading, const json_t *block, struct err *err)
{
	static const struct {
		const char *type;
		bool (*read)(struct acp_reading *reading, const json_t *block, struct err *err);
	} rows[] = {
		{ "text", acp_block_text }, { "image", acp_block_media },
		{ "audio", acp_block_media }, { "resource_link", acp_block_link },
		{ "resource", acp_block_resource },
	};
	const char *type = acp_text(block, "type");

	for (size_t i = 0; type && i < ARRAY_LEN(rows); i++)
		if (!strcmp(rows[i].type, type))
			return rows[i].read(reading, block, err);
	return err_set(err, ERR_INVALID_ARGUMENT, "its type is unknown");
}

/* ---- the whole ------------------------------------------------------------------- */

bool acp_content_read(const json_t *blocks, struct acp_content *ret, struct err *err)
{
	struct acp_reading reading = { .content = ret };
	struct err why = ERR_INIT;
	json_t *block;
	size_t i;

	*ret = (struct acp_content){ .said = BUF_INIT(LIMIT_MESSAGE_BYTES),
		                     .piped = BUF_INIT(LIMIT_MESSAGE_BYTES),
		                     .media = json_array() };
	json_array_foreach((json_t *)blocks, i, block)
		if (!acp_block_read(&reading, block, &why))
			return err_set(err, why.code, "params.prompt[%zu] cannot be used: %s.", i,
			               why.message);
	if (!ret->said.len && !ret->piped.len && !json_array_size(ret->media))
		return err_set(err, ERR_INVALID_ARGUMENT, "The prompt is empty.");
	return true;
}

void acp_content_release(struct acp_content *content)
{
	buf_release(&content->said);
	buf_release(&content->piped);
	json_decref(content->media);
	content->media = NULL;
}
