/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/term/theme.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"

/* ---- palettes ---- */

#define A(n) (THEME_ANSI + (n))

struct palette_row {
	const char *name;
	bool light;
	uint32_t at[THEME_SLOTS];
};

/* To add a theme: one row. Background, foreground, light blue, blue, purple, cyan, green, yellow,
 * red, diff added, diff removed, comment, gray. */
static const struct palette_row palettes[] = {
	{ "ansi", false,
	  { A(0), A(7), A(12), A(12), A(13), A(14), A(10), A(11), A(9), A(2), A(1), A(8), A(8) } },
	{ "atom-one", false,
	  { 0x282c34, 0xabb2bf, 0x72bef2, 0x61afef, 0xc678dd, 0x56b6c2, 0x98c379,
	    0xe5c07b, 0xe06c75, 0x2f4430, 0x53323a, 0x7d8593, 0x7d8593 } },
	{ "ayu", false,
	  { 0x0b0e14, 0xbfbdb6, 0x73b8ff, 0x59c2ff, 0xd2a6ff, 0x95e6cb, 0xaad94c,
	    0xffb454, 0xf07178, 0x1d3a1e, 0x46222a, 0x7a828d, 0x7a828d } },
	{ "default", false,
	  { 0x1e1e2e, 0xd8dee9, 0xadd6ff, 0x89b4fa, 0xcba6f7, 0x89dceb, 0xa6e3a1,
	    0xf9e2af, 0xf38ba8, 0x1f4028, 0x4d2230, 0x7f849c, 0x8b90a8 } },
	{ "dracula", false,
	  { 0x282a36, 0xf8f8f2, 0xa9c7ff, 0x8be9fd, 0xff79c6, 0x8be9fd, 0x50fa7b,
	    0xf1fa8c, 0xff5555, 0x1f4a31, 0x57262f, 0x8190c4, 0x8190c4 } },
	{ "github", false,
	  { 0x0d1117, 0xe6edf3, 0x79c0ff, 0x58a6ff, 0xd2a8ff, 0x76e3ea, 0x3fb950,
	    0xd29922, 0xff7b72, 0x12361f, 0x4a1d20, 0x8b949e, 0x8b949e } },
	{ "github-colorblind", false,
	  { 0x0d1117, 0xe6edf3, 0xa5d6ff, 0x79c0ff, 0xd2a8ff, 0x76e3ea, 0x58a6ff,
	    0xe3b341, 0xf0883e, 0x0f2d57, 0x4d2d0a, 0x8b949e, 0x8b949e } },
	{ "holiday", false,
	  { 0x152238, 0xf4f1e8, 0xb7e3f0, 0x7fb8e8, 0xe58fb1, 0x57cfc0, 0x66c56c,
	    0xf5c542, 0xf06464, 0x15472f, 0x57222e, 0x90a59b, 0x90a0b5 } },
	{ "shades-of-purple", false,
	  { 0x2d2b55, 0xffffff, 0xa599e9, 0x9effff, 0xff9d00, 0x9effff, 0xa5ff90,
	    0xfad000, 0xff628c, 0x2a4f45, 0x5e2a55, 0xb362ff, 0xa79fce } },
	{ "solarized", false,
	  { 0x002b36, 0x93a1a1, 0x56b1e8, 0x268bd2, 0x8a8fd6, 0x2aa198, 0x98ab00,
	    0xcb9a0a, 0xe9534f, 0x0f4128, 0x46262b, 0x6c858d, 0x6c858d } },
	{ "tokyonight", false,
	  { 0x1a1b26, 0xc0caf5, 0x7dcfff, 0x7aa2f7, 0xbb9af7, 0x7dcfff, 0x9ece6a,
	    0xe0af68, 0xf7768e, 0x203a30, 0x47243a, 0x737aa2, 0x737aa2 } },
	{ "ansi-light", true,
	  { A(15), A(0), A(4), A(4), A(5), A(6), A(2), A(3), A(1), A(10), A(9), A(8), A(8) } },
	{ "ayu-light", true,
	  { 0xf8f9fa, 0x5c6166, 0x2f7fc4, 0x2277c4, 0x8a4fc0, 0x2a8a68, 0x5d8000,
	    0xa86a00, 0xc93c3c, 0xd8f0c8, 0xfbdcdc, 0x787b80, 0x787b80 } },
	{ "default-light", true,
	  { 0xfafafa, 0x383a42, 0x1f6fc0, 0x1e5fd0, 0x8b3fc7, 0x0b7a85, 0x2f7d32,
	    0x946500, 0xc02a2a, 0xd3f2d6, 0xfadada, 0x70757c, 0x70757c } },
	{ "github-light", true,
	  { 0xffffff, 0x1f2328, 0x0550ae, 0x0969da, 0x8250df, 0x1b7c83, 0x1a7f37,
	    0x9a6700, 0xcf222e, 0xdafbe1, 0xffebe9, 0x6e7781, 0x6e7781 } },
	{ "github-colorblind-light", true,
	  { 0xffffff, 0x1f2328, 0x0550ae, 0x0969da, 0x8250df, 0x1b7c83, 0x0550ae,
	    0x8a6100, 0xb35900, 0xddf4ff, 0xfff1e5, 0x6e7781, 0x6e7781 } },
	{ "googlecode", true,
	  { 0xffffff, 0x222222, 0x2255aa, 0x000088, 0x660066, 0x006666, 0x007700,
	    0x886600, 0x880000, 0xd9f2d9, 0xfbdede, 0x6b6b6b, 0x6b6b6b } },
	{ "solarized-light", true,
	  { 0xfdf6e3, 0x586e75, 0x1f7abd, 0x1f78b8, 0x6065b8, 0x1d837b, 0x6a7700,
	    0x8f6a00, 0xc92a27, 0xe3eec6, 0xf9ddd2, 0x71807f, 0x71807f } },
	{ "xcode", true,
	  { 0xffffff, 0x262626, 0x0b4f79, 0x0f68a0, 0xad3da4, 0x2c6f70, 0x227d2c,
	    0x78492a, 0xc41a16, 0xdaf2dc, 0xfbdfdd, 0x5d6c79, 0x6b7680 } },
	{ "no-color", false,
	  { THEME_UNSET, THEME_UNSET, THEME_UNSET, THEME_UNSET, THEME_UNSET, THEME_UNSET,
	    THEME_UNSET, THEME_UNSET, THEME_UNSET, THEME_UNSET, THEME_UNSET, THEME_UNSET,
	    THEME_UNSET } },
};

/* ---- roles ---- */

/* What a role takes of a palette. */
struct role_row {
	int8_t slot;       /* its foreground; -1: the terminal's own */
	int8_t background; /* with 256 colours and more, instead of it; -1: none */
	uint8_t marks;     /* always */
	uint8_t colourless; /* instead of colours, where there are none */
};

static const struct role_row roles[ROLE_COUNT] = {
	[ROLE_TEXT] = { -1, -1, 0, 0 },
	[ROLE_DIM] = { THEME_GRAY, -1, 0, 0 },
	[ROLE_ACCENT] = { THEME_PURPLE, -1, 0, MARK_BOLD },
	[ROLE_LINK] = { THEME_BLUE, -1, MARK_UNDERLINE, 0 },
	[ROLE_HEADING] = { THEME_LIGHT_BLUE, -1, MARK_BOLD, 0 },
	[ROLE_QUOTE] = { THEME_COMMENT, -1, MARK_ITALIC, 0 },
	[ROLE_BORDER] = { THEME_GRAY, -1, 0, 0 },
	[ROLE_SELECTED] = { THEME_GREEN, -1, MARK_BOLD, MARK_REVERSE },
	[ROLE_USER] = { THEME_CYAN, -1, 0, MARK_BOLD },
	[ROLE_SUCCESS] = { THEME_GREEN, -1, 0, 0 },
	[ROLE_WARNING] = { THEME_YELLOW, -1, 0, MARK_BOLD },
	[ROLE_ERROR] = { THEME_RED, -1, 0, MARK_BOLD },
	[ROLE_ADDED] = { THEME_GREEN, THEME_DIFF_ADDED, 0, 0 },
	[ROLE_REMOVED] = { THEME_RED, THEME_DIFF_REMOVED, 0, 0 },
	[ROLE_ADDED_WORD] = { THEME_GREEN, THEME_DIFF_ADDED, MARK_BOLD, MARK_UNDERLINE },
	[ROLE_REMOVED_WORD] = { THEME_RED, THEME_DIFF_REMOVED, MARK_BOLD, MARK_UNDERLINE },
	[ROLE_CODE] = { THEME_CYAN, -1, 0, 0 },
	[ROLE_KEYWORD] = { THEME_BLUE, -1, 0, 0 },
	[ROLE_STRING] = { THEME_YELLOW, -1, 0, 0 },
	[ROLE_NUMBER] = { THEME_GREEN, -1, 0, 0 },
	[ROLE_COMMENT] = { THEME_COMMENT, -1, MARK_ITALIC, 0 },
	[ROLE_TYPE] = { THEME_CYAN, -1, 0, 0 },
	[ROLE_FUNCTION] = { THEME_LIGHT_BLUE, -1, 0, 0 },
	[ROLE_CONSTANT] = { THEME_PURPLE, -1, 0, 0 },
	[ROLE_ATTRIBUTE] = { THEME_PURPLE, -1, 0, 0 },
};

/* ---- finding ---- */

static void take_palette(const struct palette_row *row, struct theme *ret)
{
	*ret = (struct theme){ .name = row->name, .light = row->light };
	memcpy(ret->palette, row->at, sizeof(ret->palette));
	for (size_t i = 0; i < ROLE_COUNT; i++)
		ret->roles[i] = THEME_UNSET;
}

/* Blanks and underscores are hyphens; "ANSI Light", "GitHub Light Colorblind" are Gemini CLI's ways
 * of writing them. */
static bool same_theme_name(const char *name, const char *ours)
{
	for (; *name && *ours; name++, ours++) {
		char c = *name == ' ' || *name == '_' ? '-' : *name;

		if (c >= 'A' && c <= 'Z')
			c = (char)(c + 'a' - 'A');
		if (c != *ours)
			return false;
	}
	return *name == *ours;
}

static const struct {
	const char *other, *name;
} theme_aliases[] = {
	{ "atom-one-dark", "atom-one" },
	{ "ayu-dark", "ayu" },
	{ "ayu-mirage", "ayu" },
	{ "default-dark", "default" },
	{ "github-dark", "github" },
	{ "github-dark-colorblind", "github-colorblind" },
	{ "github-light-colorblind", "github-colorblind-light" },
	{ "google-code", "googlecode" },
	{ "nocolor", "no-color" },
	{ "solarized-dark", "solarized" },
	{ "tokyo-night", "tokyonight" },
};

bool theme_find(const char *name, struct theme *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(theme_aliases); i++)
		if (same_theme_name(name, theme_aliases[i].other))
			name = theme_aliases[i].name;
	for (size_t i = 0; i < ARRAY_LEN(palettes); i++)
		if (same_theme_name(name, palettes[i].name)) {
			take_palette(&palettes[i], ret);
			return true;
		}
	return false;
}

void theme_default(bool light, struct theme *ret)
{
	theme_find(light ? "default-light" : "default", ret);
}

const char *theme_name(size_t i)
{
	return i < ARRAY_LEN(palettes) ? palettes[i].name : NULL;
}

/* ---- custom themes ---- */

static const struct {
	const char *path;
	int slot; /* or -1 */
	int role; /* or -1: it is its foreground */
} theme_paths[] = {
	{ "text.primary", THEME_FOREGROUND, ROLE_TEXT },
	{ "text.secondary", THEME_GRAY, -1 },
	{ "text.link", THEME_BLUE, -1 },
	{ "text.accent", THEME_PURPLE, -1 },
	{ "text.response", -1, ROLE_TEXT },
	{ "background.primary", THEME_BACKGROUND, -1 },
	{ "background.diff.added", THEME_DIFF_ADDED, -1 },
	{ "background.diff.removed", THEME_DIFF_REMOVED, -1 },
	{ "border.default", -1, ROLE_BORDER },
	{ "border.focused", -1, ROLE_SELECTED },
	{ "ui.comment", THEME_COMMENT, -1 },
	{ "ui.symbol", -1, ROLE_QUOTE },
	{ "ui.active", -1, ROLE_USER },
	{ "ui.focus", -1, ROLE_SELECTED },
	{ "ui.gradient.0", -1, ROLE_HEADING },
	{ "GradientColors.0", -1, ROLE_HEADING },
	{ "status.success", THEME_GREEN, -1 },
	{ "status.warning", THEME_YELLOW, -1 },
	{ "status.error", THEME_RED, -1 },
#define PALETTE_PATH(symbol, name) { name, THEME_##symbol, -1 },
	THEME_PALETTE(PALETTE_PATH)
#undef PALETTE_PATH
#define ROLE_PATH(symbol, name) { "hasp." name, -1, ROLE_##symbol },
	ROLE_TABLE(ROLE_PATH)
#undef ROLE_PATH
};

/* CSS level 1 has sixteen names; terminals' others are bright ones. */
static const struct {
	const char *name;
	uint32_t colour;
} colour_names[] = {
	{ "black", A(0) },         { "red", A(1) },           { "green", A(2) },
	{ "yellow", A(3) },        { "blue", A(4) },          { "magenta", A(5) },
	{ "cyan", A(6) },          { "white", A(7) },         { "gray", A(8) },
	{ "grey", A(8) },          { "blackbright", A(8) },   { "redbright", A(9) },
	{ "greenbright", A(10) },  { "yellowbright", A(11) }, { "bluebright", A(12) },
	{ "magentabright", A(13) }, { "cyanbright", A(14) },  { "whitebright", A(15) },
	{ "aqua", 0x00ffff },      { "fuchsia", 0xff00ff },   { "lime", 0x00ff00 },
	{ "maroon", 0x800000 },    { "navy", 0x000080 },      { "olive", 0x808000 },
	{ "orange", 0xffa500 },    { "pink", 0xffc0cb },      { "purple", 0x800080 },
	{ "silver", 0xc0c0c0 },    { "teal", 0x008080 },      { "brown", 0xa52a2a },
	{ "gold", 0xffd700 },      { "indigo", 0x4b0082 },    { "violet", 0xee82ee },
	{ "salmon", 0xfa8072 },    { "coral", 0xff7f50 },     { "crimson", 0xdc143c },
	{ "khaki", 0xf0e68c },     { "lavender", 0xe6e6fa },  { "orchid", 0xda70d6 },
	{ "tomato", 0xff6347 },    { "turquoise", 0x40e0d0 },
};

static bool read_theme_colour(const char *text, uint32_t *ret)
{
	size_t len = strlen(text);
	char *end;
	unsigned long value;

	if (text[0] != '#') {
		for (size_t i = 0; i < ARRAY_LEN(colour_names); i++)
			if (strcasecmp(text, colour_names[i].name) == 0) {
				*ret = colour_names[i].colour;
				return true;
			}
		return false;
	}
	if ((len != 4 && len != 7) || strspn(text + 1, "0123456789abcdefABCDEF") != len - 1)
		return false;
	value = strtoul(text + 1, &end, 16);
	if (len == 4)
		value = (value & 0xf00) * 0x1100 | (value & 0xf0) * 0x110 | (value & 0xf) * 0x11;
	*ret = (uint32_t)value;
	return true;
}

bool theme_set(struct theme *theme, const char *path, const char *colour)
{
	uint32_t value;

	if (!read_theme_colour(colour, &value))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(theme_paths); i++) {
		if (strcmp(path, theme_paths[i].path) != 0)
			continue;
		if (theme_paths[i].slot >= 0)
			theme->palette[theme_paths[i].slot] = value;
		if (theme_paths[i].role >= 0)
			theme->roles[theme_paths[i].role] = value;
		if (theme_paths[i].slot == THEME_BACKGROUND)
			theme->light = value < THEME_ANSI ? theme_is_light(value) :
			                                    value == A(7) || value == A(15);
		return true;
	}
	return false;
}

/* ---- colours ---- */

static unsigned red_of(uint32_t rgb)
{
	return rgb >> 16 & 0xff;
}

static unsigned green_of(uint32_t rgb)
{
	return rgb >> 8 & 0xff;
}

static unsigned blue_of(uint32_t rgb)
{
	return rgb & 0xff;
}

/* By its luma (ITU-R BT.601). */
bool theme_is_light(uint32_t rgb)
{
	return 299 * red_of(rgb) + 587 * green_of(rgb) + 114 * blue_of(rgb) >= 128 * 1000;
}

/* Squared, weighted as eyes are: 2, 4, 3. */
static unsigned colour_distance(uint32_t a, uint32_t b)
{
	int red = (int)red_of(a) - (int)red_of(b);
	int green = (int)green_of(a) - (int)green_of(b);
	int blue = (int)blue_of(a) - (int)blue_of(b);

	return (unsigned)(2 * red * red + 4 * green * green + 3 * blue * blue);
}

/* Of xterm's cube (six levels) and its 24 grays. */
static uint32_t colour_256(unsigned index)
{
	static const uint32_t levels[] = { 0, 95, 135, 175, 215, 255 };

	if (index >= 232)
		return (8 + 10 * (index - 232)) * 0x010101;
	index -= 16;
	return levels[index / 36] << 16 | levels[index / 6 % 6] << 8 | levels[index % 6];
}

unsigned theme_nearest_256(uint32_t rgb)
{
	unsigned best = 16;

	for (unsigned i = 17; i < 256; i++)
		if (colour_distance(rgb, colour_256(i)) < colour_distance(rgb, colour_256(best)))
			best = i;
	return best;
}

/* By hue rather than by distance: a pale green is green and not white. */
unsigned theme_nearest_16(uint32_t rgb)
{
	unsigned red = red_of(rgb), green = green_of(rgb), blue = blue_of(rgb);
	unsigned most = red > green ? red : green, least = red < green ? red : green, index = 0;

	most = blue > most ? blue : most;
	least = blue < least ? blue : least;
	if ((most - least) * 5 <= most) /* hardly any hue */
		return most < 48 ? 0 : most < 144 ? 8 : most < 216 ? 7 : 15;
	/* A component counts that is in the upper half of what there is. */
	if (red * 2 >= most + least)
		index |= 1;
	if (green * 2 >= most + least)
		index |= 2;
	if (blue * 2 >= most + least)
		index |= 4;
	return most > 160 ? index + 8 : index;
}

/* Whether the one of red, green and blue that is the most of `like` is more than the others. */
static bool has_hue_of(uint32_t rgb, uint32_t like)
{
	const unsigned of[] = { red_of(rgb), green_of(rgb), blue_of(rgb) };
	const unsigned wanted[] = { red_of(like), green_of(like), blue_of(like) };
	unsigned most = 0;

	for (unsigned i = 1; i < 3; i++)
		most = wanted[i] > wanted[most] ? i : most;
	for (unsigned i = 0; i < 3; i++)
		if (i != most && of[i] >= of[most])
			return false;
	return true;
}

/* By distance alone, the dark green and the dark red of a diff's rows are the same grey. */
unsigned theme_nearest_tint(uint32_t rgb)
{
	unsigned best = 0;

	for (unsigned i = 16; i < 232; i++)
		if (has_hue_of(colour_256(i), rgb) &&
		    (!best || colour_distance(rgb, colour_256(i)) <
		                      colour_distance(rgb, colour_256(best))))
			best = i;
	return best ? best : theme_nearest_256(rgb);
}

/* Part of the way from one colour to another, both of them RGB: so little that text on it is read
 * as well. */
static uint32_t colour_towards(uint32_t from, uint32_t to)
{
	enum { PARTS = 6 };

	if (from >= THEME_ANSI || to >= THEME_ANSI)
		return from;
	return (red_of(from) * (PARTS - 1) + red_of(to)) / PARTS << 16 |
	       (green_of(from) * (PARTS - 1) + green_of(to)) / PARTS << 8 |
	       (blue_of(from) * (PARTS - 1) + blue_of(to)) / PARTS;
}

/* ---- SGR ---- */

static void put_parameter(struct buf *out, size_t start, const char *text)
{
	if (out->len > start)
		buf_char(out, ';');
	buf_str(out, text);
}

/* `base`: 38 or 48. */
static void put_colour(struct buf *out, size_t start, enum theme_colours colours, unsigned base,
                       uint32_t colour)
{
	if (colours == TERM_COLOURS_NONE || colour == THEME_UNSET)
		return;
	if (out->len > start)
		buf_char(out, ';');
	if (colour >= THEME_ANSI || colours == TERM_COLOURS_16) {
		unsigned index = colour >= THEME_ANSI ? colour - THEME_ANSI :
		                                        theme_nearest_16(colour);

		buf_printf(out, "%u", (index < 8 ? base - 8 : base + 52) + index % 8);
	} else if (colours == TERM_COLOURS_256) {
		buf_printf(out, "%u;5;%u", base, theme_nearest_256(colour));
	} else {
		buf_printf(out, "%u;2;%u;%u;%u", base, red_of(colour), green_of(colour),
		           blue_of(colour));
	}
}

/* Of a row: in 256 colours its hue counts more than its distance. */
static void put_background(struct buf *out, size_t start, enum theme_colours colours, uint32_t rgb)
{
	if (colours == TERM_COLOURS_256)
		rgb = colour_256(theme_nearest_tint(rgb));
	put_colour(out, start, colours, 48, rgb);
}

static void put_marks(struct buf *out, size_t start, uint8_t marks)
{
	static const struct {
		uint8_t mark;
		const char *parameter;
	} table[] = {
		{ MARK_BOLD, "1" },    { MARK_ITALIC, "3" },  { MARK_UNDERLINE, "4" },
		{ MARK_REVERSE, "7" }, { MARK_STRIKE, "9" },
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (marks & table[i].mark)
			put_parameter(out, start, table[i].parameter);
}

/* 0xRRGGBB of one of 256 colours, or THEME_ANSI and its number: xterm's cube and greys. */
static uint32_t colour_of_256(uint8_t number)
{
	static const uint8_t steps[] = { 0, 95, 135, 175, 215, 255 };
	const unsigned cube = number - 16u, grey = 8 + (number - 232u) * 10;

	if (number < 16)
		return THEME_ANSI + number;
	if (number >= 232)
		return grey << 16 | grey << 8 | grey;
	return (uint32_t)steps[cube / 36] << 16 | (uint32_t)steps[cube / 6 % 6] << 8 |
	       steps[cube % 6];
}

/* What another program has coloured. */
static void put_foreign(struct buf *out, enum theme_colours colours, struct style style)
{
	const size_t start = out->len;

	put_marks(out, start, style.marks);
	if (style.marks & MARK_FOREGROUND)
		put_colour(out, start, colours, 38, colour_of_256(style.foreground));
	if (style.marks & MARK_BACKGROUND)
		put_colour(out, start, colours, 48, colour_of_256(style.background));
}

void theme_sgr(struct buf *out, const struct theme *theme, enum theme_colours colours,
               struct style style)
{
	const struct role_row *row = &roles[style.role < ROLE_COUNT ? style.role : ROLE_TEXT];
	uint32_t foreground = row->slot < 0 ? THEME_UNSET : theme->palette[row->slot];
	uint32_t background = row->background < 0 ? THEME_UNSET : theme->palette[row->background];
	bool word = style.role == ROLE_ADDED_WORD || style.role == ROLE_REMOVED_WORD;
	size_t start = out->len;

	if (style.marks & (MARK_FOREGROUND | MARK_BACKGROUND)) {
		put_foreign(out, colours, style);
		return;
	}
	if (style.role < ROLE_COUNT && theme->roles[style.role] != THEME_UNSET)
		foreground = theme->roles[style.role];
	if (colours == TERM_COLOURS_NONE || (foreground == THEME_UNSET && row->slot >= 0)) {
		put_marks(out, start, style.marks | row->marks | row->colourless);
		return;
	}
	put_marks(out, start, style.marks | row->marks |
	                      (word && colours < TERM_COLOURS_TRUE ? MARK_UNDERLINE : 0));
	/* On a coloured background text is black or white, whatever colour the terminal's own has;
	 * where there are but 16, it has the colour instead. */
	if (background < THEME_ANSI && colours >= TERM_COLOURS_256) {
		if (word && colours == TERM_COLOURS_TRUE)
			background = colour_towards(background, foreground);
		put_colour(out, start, colours, 38, theme_is_light(background) ? 0 : 0xffffff);
		put_background(out, start, colours, background);
	} else {
		put_colour(out, start, colours, 38, foreground);
	}
}

/* ---- rows -------------------------------------------------------------------- */

static bool style_same(struct style a, struct style b)
{
	return a.role == b.role && a.marks == b.marks &&
	       (!(a.marks & MARK_FOREGROUND) || a.foreground == b.foreground) &&
	       (!(a.marks & MARK_BACKGROUND) || a.background == b.background);
}

void theme_row(struct buf *out, const struct theme *theme, enum theme_colours colours, bool links,
               const struct row *row)
{
	_cleanup_buf_ struct buf style = BUF_INIT(128);
	struct style now = STYLE(ROLE_TEXT);
	bool styled = false;
	const char *link = NULL, *next;

	for (size_t i = 0; i < row->count; i++) {
		const struct row_run *run = &row->runs[i];

		if (!style_same(run->style, now)) {
			now = run->style;
			buf_clear(&style);
			theme_sgr(&style, theme, colours, now);
			if (style.len)
				buf_printf(out, styled ? "\033[0;%sm" : "\033[%sm", style.data);
			else if (styled)
				buf_str(out, "\033[m");
			styled = style.len > 0;
		}
		next = links ? row_address(row, run) : NULL;
		if (next != link) {
			link = next;
			buf_printf(out, "\033]8;;%s\033\\", link ? link : "");
		}
		buf_append(out, row->text.data + run->start, run->len);
	}
	if (link)
		buf_str(out, "\033]8;;\033\\");
	if (styled)
		buf_str(out, "\033[m");
}
