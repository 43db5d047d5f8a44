/* SPDX-License-Identifier: Apache-2.0 */
/* Which key does what: Gemini CLI's command names and defaults, changed by keybindings.json.
 *
 *     struct bindings *bindings = bindings_new();
 *     bindings_read(bindings, text, warn, data);          // ~/.gemini/keybindings.json
 *     if (bindings_has(bindings, BIND_INPUT_SUBMIT, &key)) ...
 *
 * Several commands may have one key: who has the focus asks for its own first.
 *
 * The file is an array of {"command": NAME, "key": KEY}; comments are fine.  A row adds a key to a
 * command and stands before its defaults; "-NAME" takes one away.  A key is modifiers and a name
 * joined by "+": ctrl, shift, alt (opt, option), cmd (meta); a character, or one of the names in
 * bindings.c (enter, escape, pageup, f1 to f35, numpad0, numpad_add, ...).  Modifiers are exact:
 * "ctrl+f" is not ctrl+shift+f.
 */
#ifndef HASP_TUI_EDITOR_BINDINGS_H
#define HASP_TUI_EDITOR_BINDINGS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"
#include "tui/term/keys.h"

/* X(symbol, Gemini CLI's name, default keys separated by blanks, what it does): bindings_table.h
 * has the rows (BIND_BASIC_CONFIRM, BIND_APP_CYCLE_APPROVAL_MODE, ...: the name in capitals, dots
 * and camel case as underscores). */
#include "tui/editor/bindings_table.h"

enum bind {
#define BIND_ENUM(symbol, name, keys, help) BIND_##symbol,
	BIND_TABLE(BIND_ENUM) /* one a row, in their order */
#undef BIND_ENUM
	BIND_COUNT
};

/* Keys that one command may have, and bytes of a keybindings.json. */
enum { BINDINGS_KEYS_MAX = 16, BINDINGS_FILE_MAX = 1 << 20 };

struct bindings;
struct bindings *bindings_new(void); /* the defaults */
void bindings_free(struct bindings *bindings); /* NULL is fine */
/* Applies a file's rows [{command, key}]; `warn` gets a sentence for each that cannot be used. */
void bindings_read(struct bindings *bindings, struct span text,
                   void (*warn)(void *data, const char *sentence), void *data);
/* Whether the key is one of the command's. */
bool bindings_has(const struct bindings *bindings, enum bind command, const struct key *key);
/* "Ctrl+G", the first of its keys; "" without one. Borrowed. */
const char *bindings_chord(const struct bindings *bindings, enum bind command);
/* Appends all of its keys: "Ctrl+G, Ctrl+Shift+G"; nothing without one. */
void bindings_chords(const struct bindings *bindings, enum bind command, struct buf *out);
/* What the command does, in a few words without a full stop. */
const char *bindings_help(enum bind command);
/* Its name in keybindings.json. */
const char *bindings_name(enum bind command);

/* Lists each command that has a key, in the table's order; for the panel of keys ("?") and
 * documents. */
void bindings_list(const struct bindings *bindings,
                   void (*each)(void *data, enum bind command, const char *chords), void *data);

/* Reads a key's name ("ctrl+shift+x"); its `text` is empty. False: it is no key's name. */
bool bindings_parse_key(struct span name, struct key *ret);

#endif
