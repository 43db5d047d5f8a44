/* SPDX-License-Identifier: Apache-2.0 */
/* A file's bytes as lines of UTF-8 text, and back.
 *
 * The encoding is found from a byte-order mark, then UTF-8 validity, then the NUL
 * pattern of UTF-16/32 without a mark, then uchardet; a legacy encoding counts
 * only if decoding and encoding again gives the same bytes.  Lines that an edit does not touch
 * keep their bytes whatever the encoding; new lines are encoded as the file is.
 *
 *     struct document doc;
 *     if (!document_open(raw, NULL, &doc, &err))   // NOT_TEXT says what it is instead
 *             ...
 *     use doc.lines (UTF-8, no byte-order mark, line endings as they are)
 *     document_encode(&doc, &script, &pieces, &err);
 *
 * For UTF-8 files nothing is copied: doc.lines.text points into the raw bytes.
 */
#ifndef HASP_FILE_DOCUMENT_H
#define HASP_FILE_DOCUMENT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/span.h"
#include "base/text.h"
#include "diff/diff.h"

struct document {
	struct span raw;      /* borrowed: the bytes on disk */
	struct lines lines;   /* owned index over the UTF-8 text */
	struct buf decoded;   /* owned; empty for UTF-8 */
	size_t *raw_starts;   /* owned; lines.count + 1 offsets into raw; NULL for UTF-8 */
	char encoding[32];    /* iconv's name: "UTF-8", "UTF-16LE", "windows-1252", ... */
	size_t bom_bytes;     /* length of the byte-order mark at the start of raw; 0 if none */
	size_t lf_lines;      /* lines that end in LF alone */
	size_t crlf_lines;    /* lines that end in CRLF */
	bool final_newline;   /* the last line has its ending (true for the empty text) */
	size_t replaced;      /* places that are shown as U+FFFD because their bytes are invalid */
};

/* `encoding` names one to use instead of finding it (INVALID_ARGUMENT if iconv does not
 * know it, or the bytes are not in it; a byte-order mark outranks it); NULL finds it.
 * NOT_TEXT when the bytes are not text; the message is a sentence that says what they are.
 * Invalid bytes in what is otherwise plainly UTF-8 (or UTF-16, UTF-32) are shown as U+FFFD
 * and counted in `replaced`; lines keep them when untouched, and document_encode refuses new
 * lines that have a U+FFFD, because writing that would lose them.
 * On failure *ret is untouched. */
bool document_open(struct span raw, const char *encoding, struct document *ret, struct err *err);
/* As document_open, for callers that explain binary content themselves: then it is false
 * with *ret_binary true. */
bool document_decode(struct span raw, const char *encoding, struct document *ret,
                     bool *ret_binary, struct err *err);
/* The same where no library is needed to know: plain UTF-8.  False, with *ret untouched: it
 * is not, or cannot be known without one. */
bool document_decode_utf8(struct span raw, struct document *ret);
void document_release(struct document *doc);

/* "lf", "crlf", "mixed" or "none" (no line ending at all). */
const char *document_line_endings(const struct document *doc);

/* Bytes in pieces, some borrowed, some owned. */
struct pieces {
	struct span *spans; /* owned array */
	size_t count;
	size_t cap;
	struct buf owned;   /* encoded new lines */
};

/* Frees the pieces and what they own. */
void document_pieces_release(struct pieces *pieces);

/* The document as `script` leaves it, as bytes for the disk; borrows from
 * doc->raw and from the script's inserted text.  `keep_bom` false drops the byte-order mark.
 * Line endings are the caller's: none are added or changed.  INVALID_ARGUMENT when a new line
 * has a character that the encoding lacks (named, with its line of the result), is not
 * UTF-8, or has a U+FFFD while doc->replaced is not 0. */
bool document_encode(const struct document *doc, const struct script *script, bool keep_bom,
                     struct pieces *ret, struct err *err);

/* Whole new text for a file in the encoding (and with the mark) of `doc`; a mark at the
 * start of `text` is not doubled.  Errors as document_encode. */
bool document_encode_text(const struct document *doc, struct span text, struct pieces *ret,
                          struct err *err);

/* ---- files that are not text ---- */

/* What a file is when it is not text.
 *
 * libmagic looks at the content, the extension is a second opinion.  The
 * library and its database are loaded only when a file is not text, because
 * they cost more than reading the file.
 *
 * To add a type: one row in `kinds` (media.c).
 */

struct media {
	char mime_type[LIMIT_MIME_TYPE]; /* as providers of models spell it: "audio/wav" */
	char words[96];     /* for people, with article: "an ELF executable" */
	const char *advice; /* what to do instead of reading it as text; static */
	bool is_media;      /* an image, audio, video or PDF that a model can be handed */
};

/* Never fails: unknown content is "binary data", application/octet-stream. `name` is the path or
 * NULL. */
void media_identify(struct span content, const char *name, struct media *ret);

/* Whether the name's extension is that of a media type. The content need not be examined then,
 * unless it looks like text in a legacy encoding. */
bool media_name_suggests(const char *name);

/* Whether the content begins as a kind of media that can look like text (PDF). */
bool media_looks_textual(struct span content);

/* Appends "<words> (<mime type>, 71,232 bytes)". */
void media_describe(const struct media *media, size_t size, struct buf *out);

#endif
