/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a page in HTML, as a reader would note it down: headings with #, items with -, code
 * between fences, cells between bars; no scripts, styles or addresses.
 *
 *     struct html_text text = { .text = BUF_INIT(LIMIT), .title = BUF_INIT(300) };
 *     ok = html_text(page, &text, &err);
 *     buf_release(&text.text), buf_release(&text.title);
 *
 * Read by libxml2's tolerant parser, as a stream: no tree is built.  It is loaded by the first
 * page, not before.  What a hostile page can make of it is bounded: nesting, time, text.
 * Attributes, of which nothing is shown, and comments are taken out first: the parser compares each
 * attribute of a tag with all before it.
 */
#ifndef HASP_READ_HTML_TEXT_H
#define HASP_READ_HTML_TEXT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

struct html_text {
	struct buf text;   /* init with BUF_INIT: its max is the most that is wanted. UTF-8 */
	struct buf title;  /* likewise */
	bool cut;          /* it is not all of the page */
};

/* `html` is UTF-8. INTERNAL: the library is not installed (with the package's name). */
bool html_text(struct span html, struct html_text *ret, struct err *err);

#endif
