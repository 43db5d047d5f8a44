/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: names.
 *
 * A list of them is one string with blanks between ("PATH LD_* ENV"); a * at the end of a name
 * stands for any rest. Such a list needs no relocation when the program starts, as an array of
 * pointers would. */
#ifndef HASP_SHELL_NAMES_H
#define HASP_SHELL_NAMES_H

#include <stdbool.h>
#include <string.h>

#include "base/span.h"

/* Characters of variables' names. */
static inline bool is_name_start(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static inline bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_name(int c)
{
	return is_name_start(c) || is_digit(c);
}

/* Where the character is, or NULL. */
static inline const char *span_find(struct span text, char c)
{
	return text.len ? memchr(text.data, c, text.len) : NULL;
}

/* Whether the list has the name. An empty name is in no list. */
static inline bool name_in(struct span name, const char *list)
{
	while (*list) {
		struct span row = span_of(list, strcspn(list, " "));

		list += row.len + (list[row.len] == ' ');
		if (span_ends(row, SPAN("*")) && span_starts(name, span_head(row, row.len - 1)))
			return name.len > 0;
		if (row.len > 0 && span_eq(row, name))
			return true;
	}
	return false;
}

#endif
