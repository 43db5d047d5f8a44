/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that keys are bound to: Gemini CLI's, in the order of its documentation, edit.yank
 * and scroll.search.  Nothing that runs, sends, deletes, quits or asks less is on a key that
 * completes, moves or pastes in another agent or in readline (test/tui/app/key_table.py).
 *
 * X(symbol, name in keybindings.json, default keys separated by blanks, what it does).  To add one:
 * its row here, and a call of bindings_has where the focus is when it is meant to act.
 */
#ifndef HASP_TUI_EDITOR_BINDINGS_TABLE_H
#define HASP_TUI_EDITOR_BINDINGS_TABLE_H

#define BIND_TABLE(X) \
	X(BASIC_CONFIRM, "basic.confirm", "enter", \
	  "confirm the selection") \
	X(BASIC_CANCEL, "basic.cancel", "escape ctrl+[", \
	  "close what is open, or interrupt") \
	X(BASIC_QUIT, "basic.quit", "ctrl+c", \
	  "interrupt; quit when the prompt is empty") \
	X(BASIC_EXIT, "basic.exit", "ctrl+d", \
	  "quit when the prompt is empty") \
	X(CURSOR_HOME, "cursor.home", "ctrl+a home", \
	  "go to the start of the line") \
	X(CURSOR_END, "cursor.end", "ctrl+e end", \
	  "go to the end of the line") \
	X(CURSOR_UP, "cursor.up", "up", \
	  "go up one row, then to earlier prompts") \
	X(CURSOR_DOWN, "cursor.down", "down", \
	  "go down one row, then to later prompts") \
	X(CURSOR_LEFT, "cursor.left", "left ctrl+b", \
	  "go left one character") \
	X(CURSOR_RIGHT, "cursor.right", "right ctrl+f", \
	  "go right one character") \
	X(CURSOR_WORD_LEFT, "cursor.wordLeft", "ctrl+left alt+left alt+b", \
	  "go left one word") \
	X(CURSOR_WORD_RIGHT, "cursor.wordRight", "ctrl+right alt+right alt+f", \
	  "go right one word") \
	X(EDIT_DELETE_RIGHT_ALL, "edit.deleteRightAll", "ctrl+k", \
	  "delete to the end of the line") \
	X(EDIT_DELETE_LEFT_ALL, "edit.deleteLeftAll", "ctrl+u", \
	  "delete to the start of the line") \
	X(EDIT_CLEAR, "edit.clear", "ctrl+c", \
	  "clear the prompt") \
	X(EDIT_DELETE_WORD_LEFT, "edit.deleteWordLeft", "ctrl+backspace alt+backspace ctrl+w", \
	  "delete the word to the left") \
	X(EDIT_DELETE_WORD_RIGHT, "edit.deleteWordRight", "ctrl+delete alt+delete alt+d", \
	  "delete the word to the right") \
	X(EDIT_DELETE_LEFT, "edit.deleteLeft", "backspace ctrl+h", \
	  "delete the character to the left") \
	X(EDIT_DELETE_RIGHT, "edit.deleteRight", "delete ctrl+d", \
	  "delete the character to the right") \
	X(EDIT_YANK, "edit.yank", "ctrl+y", \
	  "paste what was deleted last") \
	X(EDIT_UNDO, "edit.undo", "ctrl+z alt+z cmd+z", \
	  "undo the last edit") \
	X(EDIT_REDO, "edit.redo", "ctrl+shift+z cmd+shift+z alt+shift+z", \
	  "redo what was undone") \
	X(SCROLL_UP, "scroll.up", "shift+up", \
	  "scroll up") \
	X(SCROLL_DOWN, "scroll.down", "shift+down", \
	  "scroll down") \
	X(SCROLL_HOME, "scroll.home", "ctrl+home shift+home", \
	  "scroll to the top") \
	X(SCROLL_END, "scroll.end", "ctrl+end shift+end", \
	  "scroll to the bottom") \
	X(SCROLL_PAGE_UP, "scroll.pageUp", "pageup", \
	  "scroll up one page") \
	X(SCROLL_PAGE_DOWN, "scroll.pageDown", "pagedown", \
	  "scroll down one page") \
	X(SCROLL_SEARCH, "scroll.search", "f3 alt+/", \
	  "search the conversation (full screen)") \
	X(HISTORY_PREVIOUS, "history.previous", "ctrl+p", \
	  "show the previous prompt") \
	X(HISTORY_NEXT, "history.next", "ctrl+n", \
	  "show the next prompt") \
	X(HISTORY_SEARCH_START, "history.search.start", "ctrl+r", \
	  "search earlier prompts") \
	X(HISTORY_SEARCH_SUBMIT, "history.search.submit", "enter", \
	  "send the prompt that was found") \
	X(HISTORY_SEARCH_ACCEPT, "history.search.accept", "tab", \
	  "take the prompt that was found, to edit it") \
	X(NAV_UP, "nav.up", "up", \
	  "go up in a list") \
	X(NAV_DOWN, "nav.down", "down", \
	  "go down in a list") \
	X(NAV_DIALOG_UP, "nav.dialog.up", "up k", \
	  "go up in a dialog") \
	X(NAV_DIALOG_DOWN, "nav.dialog.down", "down j", \
	  "go down in a dialog") \
	X(NAV_DIALOG_NEXT, "nav.dialog.next", "tab", \
	  "go to the next item or question of a dialog") \
	X(NAV_DIALOG_PREVIOUS, "nav.dialog.previous", "shift+tab", \
	  "go to the previous item or question of a dialog") \
	X(SUGGEST_ACCEPT, "suggest.accept", "tab enter", \
	  "take the selected completion") \
	X(SUGGEST_FOCUS_PREVIOUS, "suggest.focusPrevious", "up ctrl+p", \
	  "select the previous completion") \
	X(SUGGEST_FOCUS_NEXT, "suggest.focusNext", "down ctrl+n", \
	  "select the next completion") \
	X(SUGGEST_EXPAND, "suggest.expand", "right", \
	  "show all of a long suggestion") \
	X(SUGGEST_COLLAPSE, "suggest.collapse", "left", \
	  "show one line of a long suggestion") \
	X(INPUT_SUBMIT, "input.submit", "enter", \
	  "send the prompt") \
	X(INPUT_QUEUE_MESSAGE, "input.queueMessage", "ctrl+q", \
	  "queue the prompt until the agent is done") \
	X(INPUT_NEWLINE, "input.newline", "ctrl+j shift+enter alt+enter ctrl+enter cmd+enter", \
	  "begin a new line") \
	X(INPUT_OPEN_EXTERNAL_EDITOR, "input.openExternalEditor", "ctrl+g ctrl+shift+g", \
	  "edit the prompt in an external editor") \
	X(INPUT_DEPRECATED_OPEN_EXTERNAL_EDITOR, "input.deprecatedOpenExternalEditor", "ctrl+x", \
	  "edit the prompt in an external editor (old key)") \
	X(INPUT_PASTE, "input.paste", "ctrl+v cmd+v alt+v", \
	  "paste from the clipboard") \
	X(APP_SHOW_ERROR_DETAILS, "app.showErrorDetails", "f12", \
	  "show details of errors") \
	X(APP_SHOW_FULL_TODOS, "app.showFullTodos", "ctrl+t", \
	  "show the whole list of todos") \
	X(APP_SHOW_IDE_CONTEXT_DETAIL, "app.showIdeContextDetail", "f4", \
	  "show what the editor (IDE) has open") \
	X(APP_TOGGLE_MARKDOWN, "app.toggleMarkdown", "alt+m", \
	  "switch between rendered Markdown and its source") \
	X(APP_TOGGLE_COPY_MODE, "app.toggleCopyMode", "f9", \
	  "switch copy mode (full screen)") \
	X(APP_TOGGLE_MOUSE_MODE, "app.toggleMouseMode", "ctrl+s", \
	  "switch the mouse between the terminal and hasp") \
	X(APP_TOGGLE_YOLO, "app.toggleYolo", "", \
	  "approve every tool call, or ask again") \
	X(APP_CYCLE_APPROVAL_MODE, "app.cycleApprovalMode", "shift+tab", \
	  "change the approval mode: default, auto_edit, plan") \
	X(APP_SHOW_MORE_LINES, "app.showMoreLines", "ctrl+o", \
	  "show the whole conversation") \
	X(APP_EXPAND_PASTE, "app.expandPaste", "ctrl+o", \
	  "unfold or fold the pasted text at the caret") \
	X(APP_FOCUS_SHELL_INPUT, "app.focusShellInput", "tab", \
	  "type into the running command") \
	X(APP_UNFOCUS_SHELL_INPUT, "app.unfocusShellInput", "shift+tab", \
	  "leave the running command") \
	X(APP_CLEAR_SCREEN, "app.clearScreen", "ctrl+l", \
	  "clear the screen") \
	X(APP_RESTART, "app.restart", "r shift+r", \
	  "restart") \
	X(APP_SUSPEND, "app.suspend", "ctrl+z", \
	  "suspend hasp (fg brings it back)") \
	X(APP_SHOW_SHELL_UNFOCUS_WARNING, "app.showShellUnfocusWarning", "tab", \
	  "say how to leave the running command") \
	X(APP_VOICE_MODE_PTT, "app.voiceModePTT", "space", \
	  "hold to speak (voice mode)") \
	X(BACKGROUND_ESCAPE, "background.escape", "escape", \
	  "close the list of background commands") \
	X(BACKGROUND_SELECT, "background.select", "enter", \
	  "choose from the list of background commands") \
	X(BACKGROUND_TOGGLE, "background.toggle", "ctrl+b", \
	  "move the running command to the background") \
	X(BACKGROUND_TOGGLE_LIST, "background.toggleList", "ctrl+l", \
	  "show or hide the list of background commands") \
	X(BACKGROUND_KILL, "background.kill", "ctrl+k", \
	  "end the background command") \
	X(BACKGROUND_UNFOCUS, "background.unfocus", "shift+tab", \
	  "leave the background command") \
	X(BACKGROUND_UNFOCUS_LIST, "background.unfocusList", "tab", \
	  "leave the list of background commands") \
	X(BACKGROUND_UNFOCUS_WARNING, "background.unfocusWarning", "tab", \
	  "say how to leave the background command") \
	X(EXTENSION_UPDATE, "extension.update", "i", \
	  "update the extension") \
	X(EXTENSION_LINK, "extension.link", "l", \
	  "link the extension to a folder") \
	X(APP_DUMP_FRAME, "app.dumpFrame", "f8", \
	  "save the screen as text") \
	X(APP_START_RECORDING, "app.startRecording", "f6", \
	  "begin to record the session") \
	X(APP_STOP_RECORDING, "app.stopRecording", "f7", \
	  "stop recording the session")

#endif
