/* SPDX-License-Identifier: Apache-2.0 */
/* Regular expressions as JavaScript reads them, for files that were written for a program in it:
 * policy rules, hook matchers.
 *
 *     struct js_regex *regex;
 *     if (!js_regex_compile(SPAN("^write_.*"), &regex, &err)) ...
 *     switch (js_regex_test(regex, text)) ...
 *     js_regex_free(regex);
 *
 * ECMAScript 2023, section 22.2 and Annex B.1.2, without flags, by translation for PCRE2
 * (js_regex.c): what only PCRE2 knows is refused, or the letter that it is in
 * JavaScript. Deviations: what Annex B takes for something odd and PCRE2 refuses (a reference to
 * a group that is not there) is an error; so is \S inside a class; characters beyond U+FFFF are
 * one character.
 *
 * A test takes at most 0.1 s of CPU time and 50 ns for each byte. A compiled expression can be
 * shared by threads.
 */
#ifndef HASP_SEARCH_MATCH_JS_REGEX_H
#define HASP_SEARCH_MATCH_JS_REGEX_H

#include <stdbool.h>

#include "base/err.h"
#include "base/span.h"

struct js_regex;

/* Longest expression, in bytes. */
enum { JS_REGEX_BYTES_MAX = 2048 };

enum js_regex_option {
	JS_REGEX_LAZY = 1,    /* compile it when it is tested first; then it is UNKNOWN if it cannot
	                       * be */
	JS_REGEX_BOUNDED = 2, /* refuse an unbounded repetition inside another: (a+)+ */
};

/* INVALID_ARGUMENT: too long, not UTF-8, or what is wrong and where. */
bool js_regex_compile(struct span pattern, struct js_regex **ret, struct err *err);
bool js_regex_compile_with(struct span pattern, unsigned options, struct js_regex **ret,
                           struct err *err);
void js_regex_free(struct js_regex *regex); /* NULL is fine */
const char *js_regex_pattern(const struct js_regex *regex); /* as it was given; borrowed */

enum js_regex_result {
	JS_REGEX_NO,
	JS_REGEX_YES,
	JS_REGEX_UNKNOWN, /* it takes too long, or the text is longer than 64 MiB */
};

/* Whether it matches anywhere in the text. Bytes that are not UTF-8 match nothing. */
enum js_regex_result js_regex_test(const struct js_regex *regex, struct span text);

#endif
