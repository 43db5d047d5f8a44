/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of callers as what hasp's prompts are made of: what is said; texts of files, which go
 * before it word for word; media.  Nothing is fetched, and nothing is written to a file. */
#include <string.h>

#include "a2a/serve/tasks.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

/* Kinds of files that models take as media. */
static const char *const media_prefixes[] = { "image/", "audio/", "video/", "application/pdf" };
/* Kinds of files that are texts, whatever their bytes' kind is called. */
static const char *const text_types[] = {
	"application/json", "application/xml", "application/yaml", "application/toml",
	"application/javascript", "application/x-sh", "application/sql",
};

static bool type_is_text(const char *type)
{
	if (!strncmp(type, "text/", 5))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(text_types); i++)
		if (!strcmp(type, text_types[i]))
			return true;
	return false;
}

static bool type_is_media(const char *type)
{
	for (size_t i = 0; i < ARRAY_LEN(media_prefixes); i++)
		if (!strncmp(type, media_prefixes[i], strlen(media_prefixes[i])))
			return true;
	return false;
}

/* ---- parts ----------------------------------------------------------------------- */

static bool content_part_text(struct a2a_content *content, const json_t *part)
{
	if (content->said.len)
		buf_str(&content->said, "\n\n");
	return buf_span(&content->said, json_span(json_object_get(part, "text")));
}

static const char *content_part_name(const json_t *part)
{
	const char *name = json_string_value(json_object_get(part, "filename"));

	return name && *name ? name : "attachment";
}

static bool content_add_text(struct a2a_content *content, const char *name, struct span text)
{
	buf_printf(&content->piped, "--- Content of %s ---\n", name);
	buf_span(&content->piped, text);
	buf_str(&content->piped, span_ends(text, SPAN("\n")) ? "" : "\n");
	return buf_printf(&content->piped, "--- End of %s ---\n\n", name);
}

static bool content_data(struct a2a_content *content, const json_t *part)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES);

	return json_print(&text, json_object_get(part, "data"), 2) &&
	       content_add_text(content, content_part_name(part), buf_view(&text));
}

static bool content_raw(struct a2a_content *content, const json_t *part, struct a2a_fault *fault)
{
	const char *type = json_string_value(json_object_get(part, "mediaType"));
	const json_t *raw = json_object_get(part, "raw");
	_cleanup_buf_ struct buf bytes = BUF_INIT(LIMIT_MEDIA_BYTES + 1);

	if (type && type_is_media(type)) {
		if (json_string_length(raw) > LIMIT_MEDIA_BYTES / 3 * 4)
			return a2a_fault_set(fault, A2A_FAULT_PARAMS,
			                     "A file is larger than %zu bytes.", LIMIT_MEDIA_BYTES);
		json_array_append_new(content->media, json_pack("{s:s, s:O}", "mime_type", type,
		                                                "data", raw));
		return true;
	}
	if (!json_base64_read(json_span(raw), &bytes))
		return a2a_fault_set(fault, A2A_FAULT_PARAMS, "A file's bytes are not base64.");
	if ((type && !type_is_text(type)) || !utf8_valid(buf_view(&bytes)) ||
	    memchr(bytes.data ? bytes.data : "", '\0', bytes.len))
		return a2a_fault_set(fault, A2A_FAULT_CONTENT_TYPE,
		                     "Files of type %.100s are not supported: send text (UTF-8), "
		                     "an image, audio, video or a PDF.", type ? type : "(none)");
	return content_add_text(content, content_part_name(part), buf_view(&bytes));
}

static bool content_part(struct a2a_content *content, const json_t *part, struct a2a_fault *fault)
{
	bool fits;

	if (json_object_get(part, "url"))
		return a2a_fault_set(fault, A2A_FAULT_CONTENT_TYPE,
		                     "Files are not fetched from URLs: send the bytes (raw).");
	if (json_object_get(part, "raw"))
		fits = content_raw(content, part, fault);
	else if (json_object_get(part, "data"))
		fits = content_data(content, part);
	else
		fits = content_part_text(content, part);
	return fits || fault->kind != A2A_FAULT_NONE ||
	       a2a_fault_set(fault, A2A_FAULT_PARAMS, "The message is too long.");
}

/* ---- the whole ------------------------------------------------------------------- */

bool a2a_content_read(const json_t *message, struct a2a_content *ret, struct a2a_fault *fault)
{
	json_t *part;
	size_t i;

	*ret = (struct a2a_content){ .said = BUF_INIT(LIMIT_MESSAGE_BYTES),
		                     .piped = BUF_INIT(LIMIT_MESSAGE_BYTES),
		                     .media = json_array() };
	json_array_foreach(json_object_get(message, "parts"), i, part)
		if (!content_part(ret, part, fault) || fault->kind != A2A_FAULT_NONE)
			return false;
	if (!span_trim(buf_view(&ret->said)).len && !ret->piped.len &&
	    !json_array_size(ret->media))
		return a2a_fault_set(fault, A2A_FAULT_PARAMS, "The message has no content.");
	return true;
}

void a2a_content_release(struct a2a_content *content)
{
	buf_release(&content->said);
	buf_release(&content->piped);
	json_decref(content->media);
	content->media = NULL;
}

const json_t *a2a_content_settings(const json_t *message)
{
	const json_t *settings =
		json_object_get(json_object_get(message, "metadata"), "coderAgent");

	return span_eq(json_span(json_object_get(settings, "kind")), SPAN("agent-settings")) ?
	               settings : NULL;
}
