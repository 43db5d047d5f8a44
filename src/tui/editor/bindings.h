/* SPDX-License-Identifier: Apache-2.0 */
/* Which key does what: Gemini CLI's command names and defaults, changed by keybindings.json.
 *
 *     struct bindings *bindings = bindings_new();
 *     bindings_read(bindings, text, warn, data);          // ~/.gemini/keybindings.json
 *     if (bindings_has(bindings, BIND_INPUT_SUBMIT, &key)) ...
 *
 * Several commands may have one key: who has the focus asks for its own first.
 */
#ifndef HASP_TUI_EDITOR_BINDINGS_H
#define HASP_TUI_EDITOR_BINDINGS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"
#include "tui/term/keys.h"

/* X(symbol, Gemini CLI's name, default keys separated by blanks, what it does): bindings_table.h has the
 * rows (BIND_BASIC_CONFIRM, BIND_INPUT_SUBMIT, BIND_APP_CYCLE_APPROVAL_MODE, ...: the name in capitals,
 * dots and camel case as underscores). */
#include "tui/editor/bindings_table.h"

enum bind {
#define BIND_ENUM(symbol, name, keys, help) BIND_##symbol,
	BIND_TABLE(BIND_ENUM) /* one a row, in their order */
#undef BIND_ENUM
	BIND_COUNT
};

struct bindings;
struct bindings *bindings_new(void); /* the defaults */
void bindings_free(struct bindings *bindings);
/* Applies a file's rows [{command, key}]; `warn` is told a sentence for each that cannot be used. */
void bindings_read(struct bindings *bindings, struct span text,
                   void (*warn)(void *data, const char *sentence), void *data);
bool bindings_has(const struct bindings *bindings, enum bind command, const struct key *key);
/* "Ctrl+G", the first of its keys; "" without one. Borrowed. */
const char *bindings_chord(const struct bindings *bindings, enum bind command);
const char *bind_help(enum bind command);

#endif
