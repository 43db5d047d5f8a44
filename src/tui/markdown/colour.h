/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of hasp-highlight.so: tree-sitter, its grammars, and their packages' own queries.
 *
 * A module of its own, loaded when the first code is shown: grammars are large, and neither a start
 * nor a session without code shall pay for them.  Only highlight.c calls it.  One thread.
 */
#ifndef HASP_TUI_MARKDOWN_COLOUR_H
#define HASP_TUI_MARKDOWN_COLOUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Beyond these a code is not coloured: bytes of it, bytes of a line, and time for one line and for
 * all of it. */
enum {
	COLOUR_BYTES_MAX = 256 << 10,
	COLOUR_LINE_MAX = 4096,
	COLOUR_LINE_MICROS = 50000,
	COLOUR_MICROS = 2000000,
};

#define COLOUR_API __attribute__((visibility("default")))

struct colour;

/* `language`: a name or an ending of a file, in small letters; NULL: not known. */
COLOUR_API struct colour *colour_new(const char *language);
COLOUR_API void colour_free(struct colour *colour); /* NULL is fine */
/* Reads the next line, without its ending, and gives each of its bytes a role (text/rows.h). False:
 * it and what follows are not coloured. */
COLOUR_API bool colour_line(struct colour *colour, const char *line, size_t len, uint8_t *roles);
/* The first name of each language, for tests; NULL beyond the last. */
COLOUR_API const char *colour_language(size_t i);

#endif
