/* SPDX-License-Identifier: Apache-2.0 */
/* Keys as cases write them, for an editor.
 *
 *     abc<left>X<ctrl+z>     characters, and names of keys as in keybindings.json
 *     <lt> <gt>              "<" and ">"
 *     <paste some text>      a paste; \n, \t, \\ in it
 *     <pasted 9 lines>       a paste of so many lines ("line 1\nline 2...") or chars ("xxx...")
 */
#ifndef HASP_TEST_TUI_EDITOR_TYPING_H
#define HASP_TEST_TUI_EDITOR_TYPING_H

#include "tui/editor/editor.h"

/* Types all of it; what the last key did. Dies of a name that is no key's. */
enum editor_action type_keys(struct editor *editor, struct span keys);

/* \n, \t, \e, \xNN and \\ as what they say. */
void unescape(struct buf *out, struct span text);
/* The draft with labels for placeholders, "|" at the caret, LF as \n. */
void show_draft(const struct editor *editor, struct buf *out);

#endif
