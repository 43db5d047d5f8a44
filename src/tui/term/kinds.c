/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/term/private.h"

#include "base/mem.h"

#define R KIND_REFLOWS
#define T KIND_TRUE_COLOUR
#define K KIND_OTHER_KEYS
#define S KIND_STRAYS

/* The first row that fits counts. A name of DA2 ends with ";" (a whole number). */
static const struct terminal_kind kinds[] = {
	{ KIND_BY_VERSION, "tmux ", R | K | S, "tmux grid.c: grid_reflow" },
	{ KIND_BY_VERSION, "VTE(", R | T, "VTE ring.cc: Ring::rewrap" },
	{ KIND_BY_VERSION, "kitty(", R | T, "kitty resize.c, rewrap" },
	{ KIND_BY_VERSION, "foot(", R | T, "foot grid.c: grid_resize_and_reflow" },
	{ KIND_BY_VERSION, "WezTerm ", R | T, "wezterm term/src/screen.rs: rewrap_lines" },
	{ KIND_BY_VERSION, "alacritty", R | T, "alacritty_terminal grid/resize.rs: grow, shrink" },
	{ KIND_BY_VERSION, "Konsole ", R | T, "Konsole Screen.cpp: resizeImage" },
	{ KIND_BY_VERSION, "ghostty ", R | T, "ghostty terminal/PageList.zig: resizeCols" },
	{ KIND_BY_VERSION, "iTerm2 ", R | T | K, "iTerm2 LineBuffer" },
	{ KIND_BY_VERSION, "xterm.js", R | T, "xterm.js BufferReflow.ts" },
	{ KIND_BY_VERSION, "contour ", R | T, "contour Grid.cpp: reflow" },
	{ KIND_BY_VERSION, "WindowsTerminal", R | T, "terminal textBuffer.cpp: Reflow" },
	{ KIND_BY_VERSION, "mintty ", T | K, "mintty term.c: term_resize cuts" },
	{ KIND_BY_VERSION, "XTerm(", K, "xterm screen.c: ScreenResize cuts and pads" },
	{ KIND_BY_VERSION, "mlterm(", T, "mlterm keeps lines as they are" },
	{ KIND_BY_DA2, "84;", R | K | S, "tmux input.c: CSI > c" },
	{ KIND_BY_DA2, "83;", R, "GNU screen resize.c: ChangeWindowSize; seen with 4.9" },
	{ KIND_BY_DA2, "82;", 0, "rxvt command.c; screen.c cuts and pads" },
	{ KIND_BY_DA2, "85;", R, "rxvt-unicode screen.C: scr_reset re-wraps lines" },
	{ KIND_BY_DA2, "41;", K, "xterm charproc.c: CSI > c" },
	{ KIND_BY_DA2, "65;", R | T, "VTE vteseq.cc: CSI > c" },
	{ KIND_BY_DA2, "1;10;", 0, "mosh terminalfunctions.cc: CSI > c; its frame buffer cuts" },
	{ KIND_BY_DA2, "0;100;", 0, "libvterm 0.1 state.c: CSI > c; screen.c cuts and pads" },
	{ KIND_BY_TERM, "tmux", R | K | S, "terminfo" },
	{ KIND_BY_TERM, "screen", R, "terminfo; tmux says so too" },
	{ KIND_BY_TERM, "linux", KIND_MUTE, "Linux vt.c: vc_do_resize; no OSC" },
	{ KIND_BY_TERM, "rxvt-unicode", R, "terminfo" },
	{ KIND_BY_TERM, "rxvt", 0, "terminfo" },
	{ KIND_BY_TERM, "xterm-kitty", R | T, "terminfo" },
	{ KIND_BY_TERM, "xterm-ghostty", R | T, "terminfo" },
	{ KIND_BY_TERM, "foot", R | T, "terminfo" },
	{ KIND_BY_TERM, "alacritty", R | T, "terminfo" },
	{ KIND_BY_TERM, "wezterm", R | T, "terminfo" },
	{ KIND_BY_TERM, "konsole", R | T, "terminfo" },
	{ KIND_BY_TERM, "vte", R | T, "terminfo" },
	{ KIND_BY_TERM, "gnome", R | T, "terminfo" },
	{ KIND_BY_TERM, "iterm", R | T | K, "terminfo" },
	{ KIND_BY_TERM, "vt1", KIND_MUTE, "VT100 and its kin" },
	{ KIND_BY_TERM, "vt2", KIND_MUTE, "likewise" },
	{ KIND_BY_TERM, "vt3", KIND_MUTE, "likewise" },
};

const struct terminal_kind *kind_find(enum kind_by by, struct span name)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i].by == by && span_starts(name, span_str(kinds[i].name)))
			return &kinds[i];
	return NULL;
}

const struct terminal_kind *kind_at(size_t i)
{
	return i < ARRAY_LEN(kinds) ? &kinds[i] : NULL;
}
