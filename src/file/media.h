/* SPDX-License-Identifier: Apache-2.0 */
/* What a file is when it is not text.
 *
 * libmagic looks at the content, the extension is a second opinion.  The
 * library and its database are loaded only when a file is not text, because
 * they cost more than reading the file.
 *
 * To add a type: one row in `kinds` (media.c).
 */
#ifndef HASP_FILE_MEDIA_H
#define HASP_FILE_MEDIA_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"

enum { MEDIA_MIME_SIZE = 64 };

struct media {
	char mime_type[MEDIA_MIME_SIZE]; /* as providers of models spell it: "audio/wav" */
	char words[96];     /* for people, with article: "an ELF executable" */
	const char *advice; /* what to do instead of reading it as text; static */
	bool is_media;      /* an image, audio, video or PDF that a model can be handed */
};

/* Never fails: what is unknown is "binary data", application/octet-stream. `name` is the
 * path or NULL. */
void media_identify(struct span content, const char *name, struct media *ret);

/* Whether the name's extension is one of a media type, and the content does not have to be
 * asked unless it looks like text in a legacy encoding. */
bool media_name_suggests(const char *name);

/* Whether the content begins as a kind of media that can look like text (PDF). */
bool media_looks_textual(struct span content);

/* Appends "<words> (<mime type>, 71,232 bytes)". */
void media_describe(const struct media *media, size_t size, struct buf *out);

#endif
