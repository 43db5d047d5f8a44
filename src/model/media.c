/* SPDX-License-Identifier: Apache-2.0 */
/* Images and other media: what they are, and what a provider takes of them. */
#include "model/media.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/span.h"
#include "data/json.h"
#include "model/content.h"
#include "model/part.h"
#include "model/provider.h"

/* How large an image is, by its first bytes. */

struct media_look {
	unsigned width, height; /* pixels */
};

/* ---- kinds ------------------------------------------------------------------- */

/* Sources: PNG (W3C) 11.2.2, GIF89a 18, JPEG (T.81) B.2.2, WebP (RFC 9649) 2.5-2.7. */

/* Pictures of cameras have some tens of kilobytes of other things before their size; in the other
 * types it stands in the first bytes. */
enum { HEAD_BYTES = 256 << 10, SIZE_BYTES = 64 };

static int base64_digit(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* At most so many of the first bytes; up to the first character that is no digit. */
static void decode_head(struct span base64, size_t most, struct buf *out)
{
	unsigned bits = 0, count = 0;

	for (size_t i = 0; i < base64.len && out->len < most; i++) {
		int digit = base64_digit(base64.data[i]);

		if (digit < 0)
			return;
		bits = bits << 6 | (unsigned)digit;
		count += 6;
		if (count >= 8) {
			count -= 8;
			buf_char(out, (char)(bits >> count & 0xFF));
		}
	}
}

static unsigned byte_at(struct span bytes, size_t at)
{
	return at < bytes.len ? (unsigned char)bytes.data[at] : 0;
}

static unsigned big16(struct span bytes, size_t at)
{
	return byte_at(bytes, at) << 8 | byte_at(bytes, at + 1);
}

static unsigned little16(struct span bytes, size_t at)
{
	return byte_at(bytes, at + 1) << 8 | byte_at(bytes, at);
}

/* The first frame header: a marker C0 to CF that is no table. */
static bool look_jpeg(struct span bytes, struct media_look *ret)
{
	size_t at = 2;

	while (at + 9 < bytes.len && byte_at(bytes, at) == 0xFF) {
		unsigned marker = byte_at(bytes, at + 1);

		if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 &&
		    marker != 0xCC) {
			ret->height = big16(bytes, at + 5);
			ret->width = big16(bytes, at + 7);
			return true;
		}
		at += marker == 0xFF ? 1 : 2 + big16(bytes, at + 2);
	}
	return false;
}

static bool look_webp(struct span bytes, struct media_look *ret)
{
	struct span kind = span_head(span_skip(bytes, 12), 4);

	if (bytes.len < 30)
		return false;
	if (span_eq(kind, SPAN("VP8X"))) {
		ret->width = 1 + (little16(bytes, 24) | byte_at(bytes, 26) << 16);
		ret->height = 1 + (little16(bytes, 27) | byte_at(bytes, 29) << 16);
	} else if (span_eq(kind, SPAN("VP8L"))) {
		unsigned bits = little16(bytes, 21) | little16(bytes, 23) << 16;

		ret->width = 1 + (bits & 0x3FFF);
		ret->height = 1 + (bits >> 14 & 0x3FFF);
	} else {
		ret->width = little16(bytes, 26) & 0x3FFF;
		ret->height = little16(bytes, 28) & 0x3FFF;
	}
	return true;
}

/* Of PNG, GIF, JPEG or WebP in base64. False: it is none of these, or says nothing of it at its
 * beginning. */
static bool media_look(struct span base64, struct media_look *ret)
{
	_cleanup_buf_ struct buf head = BUF_INIT(HEAD_BYTES + 4);
	struct span bytes;

	decode_head(base64, SIZE_BYTES, &head);
	if (span_starts(buf_view(&head), SPAN("\xFF\xD8"))) {
		buf_clear(&head);
		decode_head(base64, HEAD_BYTES, &head);
	}
	bytes = buf_view(&head);
	if (bytes.len >= 24 && span_starts(bytes, SPAN("\x89PNG\r\n\x1a\n"))) {
		ret->width = big16(bytes, 16) << 16 | big16(bytes, 18);
		ret->height = big16(bytes, 20) << 16 | big16(bytes, 22);
		return true;
	}
	if (bytes.len >= 10 && span_starts(bytes, SPAN("GIF8"))) {
		ret->width = little16(bytes, 6);
		ret->height = little16(bytes, 8);
		return true;
	}
	if (span_starts(bytes, SPAN("\xFF\xD8")))
		return look_jpeg(bytes, ret);
	if (span_starts(bytes, SPAN("RIFF")) &&
	    span_eq(span_head(span_skip(bytes, 8), 4), SPAN("WEBP")))
		return look_webp(bytes, ret);
	return false;
}

/* ---- limits ---------------------------------------------------------------------------------- */

enum { KIB = 1024, MIB = 1024 * KIB };

/* 0 and NULL: not documented. `encoded`: bytes of the base64 text; `side`: pixels; with more
 * than `many` images in a request `many_side` is the limit; `total`: base64 bytes of all media. */
struct media_limits {
	const char *format, *host; /* host: what the address contains; NULL: any */
	const char *types;         /* of images, each with a blank after it */
	size_t encoded;
	unsigned side, many, many_side, count;
	size_t total;
};

#define WEB_TYPES "image/png image/jpeg image/gif image/webp "

/* The first row that fits counts. */
static const struct media_limits rows[] = {
	/* docs.cloud.google.com, "Claude on Vertex AI": requests of 30 MB. */
	{ "anthropic", "aiplatform.googleapis.com", WEB_TYPES, 5 * MIB, 8000, 20, 2000, 100,
	  (size_t)30 * MIB },
	/* platform.claude.com/docs/en/build-with-claude/vision, "General limits"; /api/overview,
	 * "Request size limits". (600 images where the context is larger than 200,000 tokens.) */
	{ "anthropic", NULL, WEB_TYPES, 5 * MIB, 8000, 20, 2000, 100, (size_t)32 * MIB },
	/* docs.cloud.google.com/vertex-ai, the models' pages: 7 MB a file, 3,000 images. */
	{ "gemini", "aiplatform.googleapis.com",
	  "image/png image/jpeg image/webp image/heic image/heif ", (size_t)7 * MIB / 3 * 4, 0, 0,
	  0,
	  3000, 0 },
	/* ai.google.dev/gemini-api/docs/image-understanding: types, 3,600 files, requests of 100
	 * MB. */
	{ "gemini", NULL, "image/png image/jpeg image/webp image/heic image/heif ", 0, 0, 0, 0,
	  3600,
	  (size_t)100 * MIB },
	/* console.groq.com/docs/vision: 4 MB of base64, five images. */
	{ "openai", "api.groq.com", WEB_TYPES, 4 * MIB, 0, 0, 0, 5, 0 },
	/* docs.x.ai/docs/guides/image-understanding: jpg and png, 20 MiB. */
	{ "openai", "api.x.ai", "image/png image/jpeg ", (size_t)20 * MIB / 3 * 4, 0, 0, 0, 0, 0 },
	/* docs.mistral.ai/capabilities/vision: 10 MB, eight images. */
	{ "openai", "api.mistral.ai", WEB_TYPES, (size_t)10 * MIB / 3 * 4, 0, 0, 0, 8, 0 },
	/* platform.openai.com/docs/guides/images-vision, "Image input requirements". */
	{ "openai", "api.openai.com", WEB_TYPES, 0, 0, 0, 0, 1500, 0 },
	{ "openai-responses", NULL, WEB_TYPES, 0, 0, 0, 0, 1500, 0 },
};

static const struct media_limits *limits_of(const struct model_options *options)
{
	static const struct media_limits none = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].format, options->provider) == 0 &&
		    (!rows[i].host ||
		     strstr(options->base_url ? options->base_url : "", rows[i].host)))
			return &rows[i];
	return &none;
}

/* ---- the media of a conversation ------------------------------------------------------------- */

static struct span media_data_of(const json_t *part)
{
	return json_span(json_object_get(json_object_get(part, "inlineData"), "data"));
}

static struct span media_type_of(const json_t *part)
{
	return json_span(json_object_get(json_object_get(part, "inlineData"), "mimeType"));
}

enum { KEY_SIZE = 33, KEY_SAMPLE = 4 * KIB };

/* Names data by its length and samples of it: a session's images are looked at before each
 * request. */
static void media_key(struct span data, char key[static KEY_SIZE])
{
	_cleanup_buf_ struct buf sample = BUF_INIT(4 * KEY_SAMPLE);
	char hex[SHA256_HEX_SIZE];
	struct sha256 sum;

	buf_printf(&sample, "%zu\n", data.len);
	buf_span(&sample, span_head(data, KEY_SAMPLE));
	buf_span(&sample, span_head(span_skip(data, data.len / 2), KEY_SAMPLE));
	if (data.len > KEY_SAMPLE)
		buf_span(&sample, span_skip(data, data.len - KEY_SAMPLE));
	sum = sha256_of(buf_view(&sample));
	sha256_hex(&sum, hex);
	memcpy(key, hex, KEY_SIZE - 1);
	key[KEY_SIZE - 1] = '\0';
}

/* Calls `look` with each part that has media: in messages, and in results of tools. */
static void each_media(const json_t *contents, void (*look)(void *data, const json_t *part),
                       void *data)
{
	const json_t *content, *part, *inner;
	size_t i, j, k;

	json_array_foreach(contents, i, content)
		json_array_foreach(json_object_get(content, "parts"), j, part) {
			const json_t *response = part_get_response(part);

			if (media_data_of(part).len)
				look(data, part);
			json_array_foreach(json_object_get(response, "parts"), k, inner)
				if (media_data_of(inner).len)
					look(data, inner);
		}
}

static const char *sentence_for(const json_t *left_out, const json_t *part)
{
	char key[KEY_SIZE];

	if (!media_data_of(part).len || !json_object_size(left_out))
		return NULL;
	media_key(media_data_of(part), key);
	return json_string_value(json_object_get(left_out, key));
}

/* A result whose media are taken out: what is said of them is a member of the response. */
static json_t *response_without(const json_t *part, const json_t *left_out, bool *changed)
{
	json_t *kept = json_array(), *notes = json_array(), *copy, *response, *value, *inner;
	size_t i;

	json_array_foreach(json_object_get(part_get_response(part), "parts"), i, inner) {
		const char *sentence = sentence_for(left_out, inner);

		if (sentence)
			json_array_append_new(notes, json_string(sentence));
		else
			json_array_append(kept, inner);
	}
	if (!json_array_size(notes)) {
		json_decref(kept);
		json_decref(notes);
		return json_incref((json_t *)part);
	}
	*changed = true;
	copy = json_copy((json_t *)part);
	response = json_copy((json_t *)part_get_response(part));
	value = json_object_get(response, "response");
	value = json_is_object(value) ? json_copy(value) : json_pack("{s:O?}", "output", value);
	/* Of what cannot be shown there is no content, and not an empty one. */
	if (json_is_string(json_object_get(value, "content")) &&
	    !json_string_length(json_object_get(value, "content")))
		json_object_del(value, "content");
	json_object_set_new(value, "media_left_out", notes);
	json_object_set_new(response, "response", value);
	json_object_set_new(response, "parts", kept);
	if (!json_array_size(kept))
		json_object_del(response, "parts");
	json_object_set_new(copy, "functionResponse", response);
	return copy;
}

static json_t *part_without(const json_t *part, const json_t *left_out, bool *changed)
{
	const char *sentence = sentence_for(left_out, part);

	if (part_get_response(part))
		return response_without(part, left_out, changed);
	if (!sentence)
		return json_incref((json_t *)part);
	*changed = true;
	return part_text(span_str(sentence));
}

json_t *media_without(const json_t *contents, const json_t *left_out)
{
	json_t *out, *copy, *parts;
	const json_t *content, *part;
	bool any = false;
	size_t i, j;

	if (!json_object_size(left_out))
		return NULL;
	out = json_array();
	json_array_foreach(contents, i, content) {
		bool changed = false;

		parts = json_array();
		json_array_foreach(json_object_get(content, "parts"), j, part)
			json_array_append_new(parts, part_without(part, left_out, &changed));
		copy = changed ? json_copy((json_t *)content) : json_incref((json_t *)content);
		if (changed)
			json_object_set(copy, "parts", parts);
		json_decref(parts);
		json_array_append_new(out, copy);
		any |= changed;
	}
	if (any)
		return out;
	json_decref(out);
	return NULL;
}

/* ---- what the limits exclude ----------------------------------------------------------------- */

struct media_fitting {
	const struct media_limits *limits;
	const struct model_options *options;           /* of the model that is asked */
	const struct model_options *const *configured; /* all; NULL-terminated */
	json_t *left_out;      /* {KEY: SENTENCE}; owned by media_fit */
	unsigned images;       /* in all */
	size_t total;          /* base64 bytes in all */
	unsigned passed;       /* of the images, those that were looked at */
};

static bool is_image(const json_t *part)
{
	return span_starts(media_type_of(part), SPAN("image/"));
}

static void count_media(void *data, const json_t *part)
{
	struct media_fitting *fitting = data;

	fitting->images += is_image(part);
	fitting->total += media_data_of(part).len;
}

static bool type_is_listed(const char *words, struct span word)
{
	const char *at = strstr(words, "image/");

	for (; at && *at; at += strcspn(at, " ") + 1)
		if (span_eq(span_of(at, strcspn(at, " ")), word))
			return true;
	return false;
}

static char *why_not(const struct media_fitting *fitting, const json_t *part)
{
	const struct media_limits *limits = fitting->limits;
	unsigned side = limits->many && fitting->images > limits->many ? limits->many_side :
	                                                                 limits->side;
	struct span data = media_data_of(part), type = media_type_of(part);
	struct media_look look = { 0 };

	if (!is_image(part))
		return NULL;
	if (limits->types && !type_is_listed(limits->types, type))
		return mem_printf("the provider takes %sand no others",
		                  limits->types);
	if (limits->encoded && data.len > limits->encoded)
		return mem_printf("it has %zu bytes in base64, and the provider takes %zu",
		                  data.len,
		                  limits->encoded);
	if (side && media_look(data, &look) && (look.width > side || look.height > side))
		return mem_printf("it is %u pixels wide and %u high, and the provider takes %u",
		                  look.width, look.height, side);
	if (limits->count && fitting->images - fitting->passed > limits->count)
		return mem_printf("the provider takes %u images in a request, and newer ones "
		                  "follow", limits->count);
	return NULL;
}

/* ---- types that the provider does not take at all ---- */

/* Kinds of media, with a command that converts each to a format that all models accept. */
static const struct media_kind {
	const char *type;    /* how it begins */
	const char *words;
	const char *program, *use, *package;
} kinds[] = {
	{ "application/pdf", "a PDF document", "pdftotext",
	  "`pdftotext -layout FILE -` prints its text", "poppler-utils" },
	{ "audio/", "a sound recording", "whisper", "`whisper FILE` writes down what is said",
	  "openai-whisper" },
	{ "video/", "a video", "ffmpeg",
	  "`ffmpeg -i FILE -vf fps=1 frame-%03d.png` makes images of it", "ffmpeg" },
	{ "", "a file that is no text", "file", "`file FILE` says what it is", "file" },
};

static bool on_path(const char *program)
{
	const char *path = getenv("PATH");

	for (path = path ? path : ""; *path; path += strcspn(path, ":"), path += *path == ':') {
		_cleanup_free_ char *file = mem_printf("%.*s/%s", (int)strcspn(path, ":"), path,
		                                       program);

		if (access(file, X_OK) == 0)
			return true;
	}
	return false;
}

static bool takes_type(const struct model_options *options, struct span type)
{
	const struct provider_format *format = provider_find(options->provider);

	return !format || !format->takes_media || format->takes_media(options, type);
}

/* A sentence about a part of a type that the model does not take: what it is, and what can be
 * done. */
static char *describe_untaken(const struct media_fitting *fitting, const json_t *part)
{
	const struct span type = media_type_of(part), data = media_data_of(part);
	const struct model_options *const *one = fitting->configured;
	_cleanup_buf_ struct buf text = BUF_INIT(2048);
	const struct media_kind *kind = kinds;

	while (!span_starts(type, span_str(kind->type)))
		kind++;
	buf_printf(&text, "This is %s (%.*s, about %zu bytes). %s/%s takes no such input.",
	           kind->words, (int)span_head(type, 100).len, type.data, data.len / 4 * 3,
	           fitting->options->label, fitting->options->name);
	while (*one && !takes_type(*one, type))
		one++;
	if (*one)
		buf_printf(&text, " %s/%s, which is configured too, takes it.", (*one)->label,
		           (*one)->name);
	else
		buf_str(&text, " Nor does any other configured model.");
	if (on_path(kind->program))
		buf_printf(&text, " %s is installed: %s.", kind->program, kind->use);
	else
		buf_printf(&text, " With %s (package %s), which is not installed, %s.",
		           kind->program, kind->package, kind->use);
	return buf_steal(&text);
}

static void note_left_out(json_t *left_out, const json_t *part, const char *why)
{
	_cleanup_free_ char *sentence = NULL;
	struct span type = span_head(media_type_of(part), 100);
	char key[KEY_SIZE];

	sentence = mem_printf("(A part of type %.*s was left out here: %s.)", (int)type.len,
	                      type.data, why);
	media_key(media_data_of(part), key);
	json_object_set_new(left_out, key, json_cstr(sentence));
}

static void fit_media(void *data, const json_t *part)
{
	struct media_fitting *fitting = data;
	_cleanup_free_ char *why = why_not(fitting, part);
	char key[KEY_SIZE];

	if (!is_image(part) && !takes_type(fitting->options, media_type_of(part))) {
		_cleanup_free_ char *sentence = describe_untaken(fitting, part);

		media_key(media_data_of(part), key);
		json_object_set_new(fitting->left_out, key, json_cstr(sentence));
		fitting->total -= media_data_of(part).len;
		return;
	}
	if (!why && fitting->limits->total && fitting->total > fitting->limits->total)
		why = mem_printf("the provider takes %zu bytes in a request, and newer parts "
		                 "follow", fitting->limits->total);
	fitting->passed += is_image(part);
	if (!why)
		return;
	fitting->total -= media_data_of(part).len;
	note_left_out(fitting->left_out, part, why);
}

static void set_without_data(json_t **object)
{
	if (!*object)
		*object = json_object();
}

void media_memory_release(struct media_memory *memory)
{
	json_decref(memory->refused);
	json_decref(memory->accepted);
	json_decref(memory->trial);
	json_decref(memory->reported);
	*memory = (struct media_memory){ 0 };
}

json_t *media_fit(struct media_memory *memory, const struct model_options *options,
                  const struct model_options *const *configured, const json_t *contents,
                  void (*report)(void *data, const char *sentence), void *data)
{
	struct media_fitting fitting = { .limits = limits_of(options), .options = options,
		                         .configured = configured, .left_out = json_object() };
	const char *key;
	json_t *value, *fit;

	each_media(contents, count_media, &fitting);
	if (fitting.total)
		each_media(contents, fit_media, &fitting);
	set_without_data(&memory->reported);
	json_object_foreach(fitting.left_out, key, value) {
		if (!report)
			break;
		if (!json_object_get(memory->reported, key))
			report(data, json_string_value(value));
		json_object_set_new(memory->reported, key, json_true());
	}
	json_object_update(fitting.left_out, memory->refused);
	json_object_update(fitting.left_out, memory->trial);
	fit = media_without(contents, fitting.left_out);
	json_decref(fitting.left_out);
	return fit ? fit : json_incref((json_t *)contents);
}

/* ---- what was refused ------------------------------------------------------------------------ */

static bool names_any(struct span text, const char *const *phrases)
{
	for (; *phrases; phrases++)
		for (size_t i = 0, len = strlen(*phrases); i + len <= text.len; i++)
			if (strncasecmp(text.data + i, *phrases, len) == 0)
				return true;
	return false;
}

/* Sentences that may be about an image or a document. One that is not costs a request, and is
 * reported as it was. */
static bool may_be_about_media(struct span sentence)
{
	static const char *const things[] =
		{ "image", "media", "mime", "pdf", "document", "inline_data",
	                                      "inlineData", "audio", "file", "multimodal", "vision",
	                                      "content type", NULL };

	return names_any(sentence, things);
}

struct media_gathering {
	const struct media_memory *memory;
	json_t *found;         /* {KEY: SENTENCE} */
	struct span sentence;
};

static void gather_new(void *data, const json_t *part)
{
	struct media_gathering *gathering = data;
	_cleanup_free_ char *why = NULL;
	struct span said = span_head(gathering->sentence, 300);
	char key[KEY_SIZE];

	media_key(media_data_of(part), key);
	if (json_object_get(gathering->memory->accepted, key) ||
	    json_object_get(gathering->memory->refused, key))
		return;
	why = mem_printf("the provider refused it: %.*s", (int)said.len, said.data);
	note_left_out(gathering->found, part, why);
}

bool media_try_without(struct media_memory *memory, const json_t *contents, struct span sentence)
{
	size_t before = json_object_size(memory->trial);
	struct media_gathering gathering = { memory, json_object(), sentence };
	json_t *newest = json_array();

	if (!before && may_be_about_media(sentence))
		for (size_t i = json_array_size(contents);
		     i-- > 0 && !json_object_size(gathering.found);) {
			json_array_clear(newest);
			json_array_append(newest, json_array_get(contents, i));
			each_media(newest, gather_new, &gathering);
		}
	else if (before)
		each_media(contents, gather_new, &gathering);
	json_decref(newest);
	if (json_object_size(gathering.found) <= before) {
		json_decref(gathering.found);
		return false;
	}
	json_decref(memory->trial);
	memory->trial = gathering.found;
	return true;
}

static void accept_media(void *data, const json_t *part)
{
	struct media_memory *memory = data;
	char key[KEY_SIZE];

	media_key(media_data_of(part), key);
	if (!json_object_get(memory->trial, key) && !json_object_get(memory->refused, key))
		json_object_set_new(memory->accepted, key, json_true());
}

json_t *media_settle(struct media_memory *memory, const json_t *contents, bool answered)
{
	json_t *refused = memory->trial;

	set_without_data(&memory->accepted);
	set_without_data(&memory->refused);
	if (answered) {
		each_media(contents, accept_media, memory);
		json_object_update(memory->refused, refused);
	} else {
		json_decref(refused);
		refused = NULL;
	}
	memory->trial = NULL;
	return refused;
}
