/* SPDX-License-Identifier: Apache-2.0 */
/* JavaScript's syntax of regular expressions in PCRE2's. Private to this folder. */
#ifndef HASP_SEARCH_MATCH_JS_REGEX_TRANSLATE_H
#define HASP_SEARCH_MATCH_JS_REGEX_TRANSLATE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

/* Appends the pattern as PCRE2 reads it with the options of js_regex.c. INVALID_ARGUMENT: what
 * JavaScript would refuse; `bounded`: a repetition without end inside another one. */
bool js_regex_translate(struct span pattern, bool bounded, struct buf *out, struct err *err);

#endif
