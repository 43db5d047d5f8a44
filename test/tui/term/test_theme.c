/* SPDX-License-Identifier: Apache-2.0 */
/* Themes: names, custom ones, what becomes of colours where there are few, and whether all can be
 * read. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tui/term/private.h"
#include "tui/term/theme.h"

static const char *sgr(const struct theme *theme, enum theme_colours colours, struct style style)
{
	static char text[128];
	_cleanup_buf_ struct buf out = BUF_INIT(128);

	theme_sgr(&out, theme, colours, style);
	snprintf(text, sizeof(text), "%s", out.data ? out.data : "");
	return text;
}

static void gemini_clis_names_are_known(void **state)
{
	static const char *const names[] = {
		"ANSI", "Atom One", "Ayu", "Default", "Dracula", "GitHub", "GitHub-Colorblind",
		"Holiday", "Shades Of Purple", "Solarized Dark", "TokyoNight", "ANSI Light",
		"Ayu Light", "Default Light", "GitHub Light", "GitHub Light Colorblind",
		"Google Code", "Solarized Light", "Xcode", "NoColor", "no-color", "tokyonight",
	};
	struct theme theme;
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		assert_true(theme_find(names[i], &theme));
	assert_false(theme_find("Nobody", &theme));
	for (; theme_name(count); count++) {
		assert_true(theme_find(theme_name(count), &theme));
		assert_string_equal(theme.name, theme_name(count));
	}
	assert_int_equal(count, 20);
}

static double luminance(uint32_t rgb)
{
	double sum = 0, weights[] = { 0.0722, 0.7152, 0.2126 };

	for (int i = 0; i < 3; i++, rgb >>= 8) {
		double c = (rgb & 255) / 255.0;

		sum += weights[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
	}
	return sum;
}

static double contrast(uint32_t a, uint32_t b)
{
	double x = luminance(a), y = luminance(b);

	return x > y ? (x + 0.05) / (y + 0.05) : (y + 0.05) / (x + 0.05);
}

static void every_colour_can_be_read_on_its_background(void **state)
{
	static const int texts[] = { THEME_FOREGROUND, THEME_LIGHT_BLUE, THEME_BLUE, THEME_PURPLE,
		                     THEME_CYAN, THEME_GREEN, THEME_YELLOW, THEME_RED,
		                     THEME_COMMENT, THEME_GRAY };
	struct theme theme;

	(void)state;
	for (size_t i = 0; theme_name(i); i++) {
		assert_true(theme_find(theme_name(i), &theme));
		if (theme.palette[THEME_BACKGROUND] >= THEME_ANSI)
			continue;
		assert_int_equal(theme.light, theme_is_light(theme.palette[THEME_BACKGROUND]));
		for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
			double ratio = contrast(theme.palette[texts[k]],
			                        theme.palette[THEME_BACKGROUND]);

			if (ratio < 3)
				fail_msg("colour %d of %s has a contrast of %.2f", texts[k],
				         theme.name, ratio);
		}
		/* Changed lines keep the terminal's text. */
		assert_true(contrast(theme.palette[THEME_FOREGROUND],
		                     theme.palette[THEME_DIFF_ADDED]) > 3.9);
		assert_true(contrast(theme.palette[THEME_FOREGROUND],
		                     theme.palette[THEME_DIFF_REMOVED]) > 3.9);
	}
}

/* Of an SGR sequence's parameters: the colour behind 38 or 48. */
static uint32_t colour_in(const char *text, unsigned base, enum theme_colours colours)
{
	static const uint32_t levels[] = { 0, 95, 135, 175, 215, 255 };
	_cleanup_free_ char *wanted = mem_printf("%u;%d;", base,
	                                         colours == TERM_COLOURS_TRUE ? 2 : 5);
	const char *at = strstr(text, wanted);
	unsigned a, b, c;

	assert_non_null(at);
	at += strlen(wanted);
	if (colours == TERM_COLOURS_TRUE) {
		assert_int_equal(sscanf(at, "%u;%u;%u", &a, &b, &c), 3);
		return a << 16 | b << 8 | c;
	}
	assert_int_equal(sscanf(at, "%u", &a), 1);
	assert_in_range(a, 16, 255);
	if (a >= 232)
		return (8 + 10 * (a - 232)) * 0x010101;
	a -= 16;
	return levels[a / 36] << 16 | levels[a / 6 % 6] << 8 | levels[a % 6];
}

/* By WCAG 2.1's ratio, in every theme that has colours of its own; and what is added has another
 * hue than what is removed. */
static void rows_of_a_diff_can_be_read_and_told_apart(void **state)
{
	static const enum theme_colours all[] = { TERM_COLOURS_256, TERM_COLOURS_TRUE };
	static const enum role rows[] = { ROLE_ADDED, ROLE_ADDED_WORD, ROLE_REMOVED,
		                          ROLE_REMOVED_WORD };
	struct theme theme;

	(void)state;
	for (size_t i = 0; theme_name(i); i++) {
		assert_true(theme_find(theme_name(i), &theme));
		if (theme.palette[THEME_DIFF_ADDED] >= THEME_ANSI)
			continue;
		for (size_t k = 0; k < ARRAY_LEN(all); k++) {
			uint32_t behind[ARRAY_LEN(rows)];

			for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
				const char *text = sgr(&theme, all[k], STYLE(rows[r]));
				const double ratio = contrast(
					colour_in(text, 38, all[k]),
					behind[r] = colour_in(text, 48, all[k]));

				if (ratio < 4.5)
					fail_msg("role %d of %s has a contrast of %.2f", rows[r],
					         theme.name, ratio);
				assert_true((behind[r] & 255) * 0x010101 != behind[r]);
			}
			assert_true(behind[0] != behind[2]);
			assert_int_equal(theme_nearest_tint(theme.palette[THEME_DIFF_ADDED]) ==
			                 theme_nearest_tint(theme.palette[THEME_DIFF_REMOVED]), 0);
		}
	}
}

/* With 16 colours and with none. */
static void without_backgrounds_a_diff_is_told_apart_by_its_text(void **state)
{
	struct theme theme;

	(void)state;
	for (size_t i = 0; theme_name(i); i++) {
		char added[64];

		assert_true(theme_find(theme_name(i), &theme));
		if (theme.palette[THEME_DIFF_ADDED] == THEME_UNSET)
			continue;
		snprintf(added, sizeof(added), "%s",
		         sgr(&theme, TERM_COLOURS_16, STYLE(ROLE_ADDED)));
		assert_string_not_equal(added, sgr(&theme, TERM_COLOURS_16, STYLE(ROLE_REMOVED)));
		assert_string_equal(sgr(&theme, TERM_COLOURS_NONE, STYLE(ROLE_ADDED_WORD)), "1;4");
	}
}

static void a_role_has_the_colours_that_there_are(void **state)
{
	struct theme theme;

	(void)state;
	assert_true(theme_find("dracula", &theme));
	assert_string_equal(sgr(&theme, TERM_COLOURS_TRUE, STYLE(ROLE_ERROR)), "38;2;255;85;85");
	assert_string_equal(sgr(&theme, TERM_COLOURS_256, STYLE(ROLE_ERROR)), "38;5;203");
	assert_string_equal(sgr(&theme, TERM_COLOURS_16, STYLE(ROLE_ERROR)), "91");
	assert_string_equal(sgr(&theme, TERM_COLOURS_NONE, STYLE(ROLE_ERROR)), "1");
	assert_string_equal(sgr(&theme, TERM_COLOURS_TRUE, STYLE(ROLE_TEXT)), "");
	assert_string_equal(sgr(&theme, TERM_COLOURS_TRUE, STYLE_BOLD(ROLE_TEXT)), "1");
	assert_string_equal(sgr(&theme, TERM_COLOURS_TRUE, STYLE(ROLE_ADDED)),
	                    "38;2;255;255;255;48;2;31;74;49");
	assert_string_equal(sgr(&theme, TERM_COLOURS_16, STYLE(ROLE_ADDED)), "92");
	assert_string_equal(sgr(&theme, TERM_COLOURS_NONE, STYLE(ROLE_SELECTED)), "1;7");
	assert_true(theme_find("ansi-light", &theme));
	assert_string_equal(sgr(&theme, TERM_COLOURS_TRUE, STYLE(ROLE_ERROR)), "31");
	assert_true(theme_find("no-color", &theme));
	assert_string_equal(sgr(&theme, TERM_COLOURS_TRUE, STYLE(ROLE_ERROR)), "1");
	assert_string_equal(sgr(&theme, TERM_COLOURS_TRUE, STYLE(ROLE_LINK)), "4");
}

static void the_nearest_colours_are_near(void **state)
{
	static const struct {
		uint32_t rgb;
		unsigned in_256, in_16;
	} rows[] = {
		{ 0x000000, 16, 0 },  { 0xffffff, 231, 15 }, { 0xff0000, 196, 9 },
		{ 0x00ff00, 46, 10 }, { 0x0000ff, 21, 12 },  { 0x808080, 244, 8 },
		{ 0x800000, 88, 1 },  { 0x98c379, 108, 10 }, { 0xe5c07b, 180, 11 },
		{ 0xc0c0c0, 250, 7 }, { 0x005f87, 24, 6 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(theme_nearest_256(rows[i].rgb), rows[i].in_256);
		assert_int_equal(theme_nearest_16(rows[i].rgb), rows[i].in_16);
	}
}

static void custom_themes_set_what_they_name(void **state)
{
	struct theme theme;

	(void)state;
	theme_default(false, &theme);
	assert_true(theme_set(&theme, "text.primary", "#abc"));
	assert_string_equal(sgr(&theme, TERM_COLOURS_TRUE, STYLE(ROLE_TEXT)), "38;2;170;187;204");
	assert_true(theme_set(&theme, "status.error", "RedBright"));
	assert_string_equal(sgr(&theme, TERM_COLOURS_TRUE, STYLE(ROLE_ERROR)), "91");
	assert_true(theme_set(&theme, "background.diff.added", "#001100"));
	assert_string_equal(sgr(&theme, TERM_COLOURS_TRUE, STYLE(ROLE_ADDED)),
	                    "38;2;255;255;255;48;2;0;17;0");
	assert_true(theme_set(&theme, "hasp.keyword", "#123456"));
	assert_string_equal(sgr(&theme, TERM_COLOURS_TRUE, STYLE(ROLE_KEYWORD)), "38;2;18;52;86");
	assert_true(theme_set(&theme, "AccentGreen", "#010203"));
	assert_string_equal(sgr(&theme, TERM_COLOURS_TRUE, STYLE(ROLE_SUCCESS)), "38;2;1;2;3");
	assert_true(theme_set(&theme, "background.primary", "#fafafa"));
	assert_true(theme.light);
	assert_false(theme_set(&theme, "text.nothing", "#fff"));
	assert_false(theme_set(&theme, "text.link", "#ffff"));
	assert_false(theme_set(&theme, "text.link", "#ggg"));
	assert_false(theme_set(&theme, "text.link", "no colour"));
	assert_false(theme_set(&theme, "text.link", ""));
}

static void terminals_are_known_by_their_names(void **state)
{
	static const struct {
		enum kind_by by;
		const char *name;
		int reflows; /* -1: unknown */
	} rows[] = {
		{ KIND_BY_VERSION, "tmux 3.3a", 1 },     { KIND_BY_VERSION, "XTerm(379)", 0 },
		{ KIND_BY_VERSION, "VTE(7200)", 1 },     { KIND_BY_VERSION, "kitty(0.30.1)", 1 },
		{ KIND_BY_VERSION, "ghostty 1.0.0", 1 }, { KIND_BY_VERSION, "xterm.js(5.5.0)", 1 },
		{ KIND_BY_VERSION, "other", -1 },        { KIND_BY_DA2, "84;0;0c", 1 },
		{ KIND_BY_DA2, "0;100;0c", 0 },          { KIND_BY_DA2, "841;0;0c", -1 },
		{ KIND_BY_TERM, "tmux-256color", 1 },    { KIND_BY_TERM, "linux", 0 },
		{ KIND_BY_TERM, "rxvt", 0 },             { KIND_BY_TERM, "rxvt-unicode", 1 },
		{ KIND_BY_TERM, "xterm-256color", -1 },  { KIND_BY_TERM, "vt220", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct terminal_kind *kind = kind_find(rows[i].by, span_str(rows[i].name));

		assert_int_equal(kind ? (kind->facts & KIND_REFLOWS) != 0 : -1, rows[i].reflows);
	}
	for (size_t i = 0; kind_at(i); i++)
		assert_true(kind_at(i)->source[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gemini_clis_names_are_known),
		cmocka_unit_test(every_colour_can_be_read_on_its_background),
		cmocka_unit_test(rows_of_a_diff_can_be_read_and_told_apart),
		cmocka_unit_test(without_backgrounds_a_diff_is_told_apart_by_its_text),
		cmocka_unit_test(a_role_has_the_colours_that_there_are),
		cmocka_unit_test(the_nearest_colours_are_near),
		cmocka_unit_test(custom_themes_set_what_they_name),
		cmocka_unit_test(terminals_are_known_by_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
