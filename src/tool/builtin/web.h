/* SPDX-License-Identifier: Apache-2.0 */
/* What comes from the web: text of strangers, citations, addresses in a prompt. */
#ifndef HASP_TOOL_BUILTIN_WEB_H
#define HASP_TOOL_BUILTIN_WEB_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "tool/services.h"

/* ---- text of strangers ------------------------------------------------------- */

/* Text that others wrote, marked as such for a model: between <untrusted_context> and its end. */

/* A new reference. An end mark inside the text is spoiled. */
json_t *web_untrusted_json(struct span text);
/* The same on one line, of a title: at most `max` bytes of it. */
json_t *web_untrusted_line(struct span text, size_t max);
/* What stands between the marks that are around all of the text; the text itself if none are. */
struct span web_untrusted_inside(struct span text);
/* A sentence without the marks in it, for people. The caller frees. */
char *web_untrusted_plain(struct span text);

/* ---- citations --------------------------------------------------------------- */

/* The sources of a grounded answer: numbers in its text, and a list.
 *
 * Which part of the text (in bytes of UTF-8) comes from which sources is in groundingSupports;
 * numbers go after that part.  All of it is hostile: indices are held to the text, titles and
 * addresses to one line.
 */

/* "Answer [1][2].\n\nSources:\n[1] Title (https://...)\n"; a new reference. */
json_t *web_citations_text(const struct grounded *grounded);
/* [{"title", "url"}], in the order of their numbers, titles marked as untrusted and addresses
 * without blanks; a new reference. */
json_t *web_citations_sources(const struct grounded *grounded);

/* clang-format off */
#define RESULT_SOURCES SCHEMA( \
	"sources": {"type": "array", "items": {"type": "object", "required": ["title", "url"], \
		"additionalProperties": false, \
		"properties": {"title": {"type": "string"}, "url": {"type": "string"}}}})
/* clang-format on */

/* ---- addresses --------------------------------------------------------------- */

/* The addresses in a prompt. */

enum { WEB_URLS_MAX = 20, WEB_URL_BYTES_MAX = 8192 };

/* Extracts the http and https addresses of a text, each once, in order and ready to fetch: without
 * fragments, and with raw files instead of GitHub's pages for them.  `out` gets the text with the
 * new addresses.  Returns a new array; NULL: INVALID_ARGUMENT: no address, more than WEB_URLS_MAX,
 * or one that is too long, has another scheme or contains a password. */
json_t *web_urls(struct span prompt, struct buf *out, struct err *err);
/* The same of one address alone. The caller frees; NULL: INVALID_ARGUMENT. */
char *web_url(struct span text, struct err *err);
/* The host of such an address, without a port, in lower case. The caller frees. */
char *web_host(const char *url);

#endif
