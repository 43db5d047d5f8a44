/* SPDX-License-Identifier: Apache-2.0 */
/* Which colours roles have: Gemini CLI's themes by name, and custom ones of the settings.
 *
 *     struct theme theme;
 *     if (!theme_find("Dracula", &theme)) theme_default(light, &theme);
 *     theme_set(&theme, "status.error", "#ff5555");          // each value of a custom theme
 *     theme_sgr(&out, &theme, colours, STYLE(ROLE_ERROR));   // "38;2;255;85;85"
 *
 * A theme is a palette of thirteen colours; what a role takes of it is one table (theme.c), and so
 * are the palettes.  Colours are chosen for true colour; for 256 and 16 the nearest is computed.
 * Text itself has the terminal's own colour unless a custom theme gives it one: a theme's may be
 * unreadable on the background that a terminal really has.  For the same reason the terminal's
 * background is never painted.
 *
 * Not here: whether the terminal has colours (term.h), what a role is (text/rows.h).
 */
#ifndef HASP_TUI_TERM_THEME_H
#define HASP_TUI_TERM_THEME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "tui/text/rows.h"

enum theme_colours { TERM_COLOURS_NONE, TERM_COLOURS_16, TERM_COLOURS_256, TERM_COLOURS_TRUE };

/* X(symbol, Gemini CLI's old name in custom themes) */
#define THEME_PALETTE(X)                    \
	X(BACKGROUND, "Background")         \
	X(FOREGROUND, "Foreground")         \
	X(LIGHT_BLUE, "LightBlue")          \
	X(BLUE, "AccentBlue")               \
	X(PURPLE, "AccentPurple")           \
	X(CYAN, "AccentCyan")               \
	X(GREEN, "AccentGreen")             \
	X(YELLOW, "AccentYellow")           \
	X(RED, "AccentRed")                 \
	X(DIFF_ADDED, "DiffAdded")          \
	X(DIFF_REMOVED, "DiffRemoved")      \
	X(COMMENT, "Comment")               \
	X(GRAY, "Gray")

enum theme_slot {
#define THEME_ENUM(symbol, name) THEME_##symbol,
	THEME_PALETTE(THEME_ENUM) /* one a row, in their order */
#undef THEME_ENUM
	THEME_SLOTS
};

/* A colour: 0xRRGGBB, THEME_ANSI + 0 to 15, or THEME_UNSET (the terminal's own). */
enum { THEME_ANSI = 1 << 24, THEME_UNSET = 2 << 24 };

struct theme {
	const char *name; /* of a built-in one; a custom one has that of what it began as */
	bool light;
	uint32_t palette[THEME_SLOTS];
	uint32_t roles[ROLE_COUNT]; /* foregrounds of a custom theme; THEME_UNSET: the palette's */
};

/* The built-in theme of that name, in letters of any case ("Default Light", "default-light");
 * false: there is none, *ret is as it was. */
bool theme_find(const char *name, struct theme *ret);
/* What suits a light or a dark background if no theme is set. */
void theme_default(bool light, struct theme *ret);
/* The names, for completion and /theme: dark ones, then light ones, then "no-color"; NULL: no
 * more. */
const char *theme_name(size_t i);

/* Sets one value of a custom theme object: `path` is its place ("text.primary",
 * "background.diff.added", "status.error", an old flat name as "AccentBlue", or "hasp." with a
 * role's name), `colour` #rgb, #rrggbb or a colour's name of CSS level 1 and terminals. False: no
 * such place or colour. "background.primary" decides whether the theme is light. */
bool theme_set(struct theme *theme, const char *path, const char *colour);

/* Appends SGR parameters ("1;38;5;120") of the style, without those that reset what was before;
 * nothing for plain text. */
void theme_sgr(struct buf *out, const struct theme *theme, enum theme_colours colours,
               struct style style);

/* Appends a row's text with its colours and, with `links`, its links (OSC 8), and no line end. */
void theme_row(struct buf *out, const struct theme *theme, enum theme_colours colours, bool links,
               const struct row *row);

/* Whether a background of that colour is a light one. */
bool theme_is_light(uint32_t rgb);
/* The nearest of 256 (16 to 255) and of 16 colours. */
unsigned theme_nearest_256(uint32_t rgb);
/* The nearest of 256 that has its hue, for a background that shows by its colour what it is. */
unsigned theme_nearest_tint(uint32_t rgb);
unsigned theme_nearest_16(uint32_t rgb);

#endif
