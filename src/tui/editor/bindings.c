/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/editor/bindings.h"

#include <jansson.h>
#include <stdio.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/jsonc.h"
#include "tui/editor/bindings_table.h"

/* Longest "Ctrl+Alt+Shift+Cmd+Page Down". */
enum { CHORD_MAX = 48 };

struct bound_keys {
	uint32_t code; /* as normalize_key makes it */
	uint8_t mods;
};

struct bindings {
	struct {
		struct bound_keys keys[BINDINGS_KEYS_MAX];
		size_t count;
		char chord[CHORD_MAX]; /* of the first */
	} commands[BIND_COUNT];
};

static const struct {
	const char *name, *keys, *help;
} bind_rows[] = {
#define BIND_ROW(symbol, name, keys, help) { name, keys, help },
	BIND_TABLE(BIND_ROW)
#undef BIND_ROW
};

static const struct {
	const char *name;  /* in the file, in any case */
	uint32_t code;     /* 0: no terminal sends it */
	const char *shown; /* NULL: the character itself */
} key_names[] = {
	{ "enter", KEY_ENTER, "Enter" },
	{ "tab", KEY_TAB, "Tab" },
	{ "escape", KEY_ESC, "Esc" },
	{ "backspace", KEY_BACKSPACE, "Backspace" },
	{ "delete", KEY_DELETE, "Delete" },
	{ "insert", KEY_INSERT, "Insert" },
	{ "up", KEY_UP, "Up" },
	{ "down", KEY_DOWN, "Down" },
	{ "left", KEY_LEFT, "Left" },
	{ "right", KEY_RIGHT, "Right" },
	{ "home", KEY_HOME, "Home" },
	{ "end", KEY_END, "End" },
	{ "pageup", KEY_PAGE_UP, "Page Up" },
	{ "pagedown", KEY_PAGE_DOWN, "Page Down" },
	{ "space", ' ', "Space" },
	/* Other names of the same. */
	{ "return", KEY_ENTER, NULL },
	{ "esc", KEY_ESC, NULL },
	{ "del", KEY_DELETE, NULL },
	{ "ins", KEY_INSERT, NULL },
	/* The decoder reports these as what they type. */
	{ "numpad_multiply", '*', NULL },
	{ "numpad_add", '+', NULL },
	{ "numpad_separator", ',', NULL },
	{ "numpad_subtract", '-', NULL },
	{ "numpad_decimal", '.', NULL },
	{ "numpad_divide", '/', NULL },
	{ "plus", '+', NULL },
	{ "minus", '-', NULL },
	/* Names that Gemini CLI knows and that are no events here (term/keys.h). */
	{ "clear", 0, NULL },
	{ "pausebreak", 0, NULL },
	{ "capslock", 0, NULL },
	{ "numlock", 0, NULL },
	{ "scrolllock", 0, NULL },
	{ "printscreen", 0, NULL },
};

static const struct {
	const char *prefix;
	uint8_t mod;
} mod_names[] = {
	{ "ctrl+", KEY_CTRL }, { "shift+", KEY_SHIFT }, { "alt+", KEY_ALT },
	{ "option+", KEY_ALT }, { "opt+", KEY_ALT },    { "cmd+", KEY_META },
	{ "meta+", KEY_META },
};

static bool same_word(struct span text, const char *word)
{
	return text.len == strlen(word) && strncasecmp(text.data, word, text.len) == 0;
}

/* "R" is "r" with Shift, whichever way a terminal says it. */
static struct bound_keys normalize_key(uint32_t code, uint8_t mods)
{
	if (code >= 'A' && code <= 'Z')
		return (struct bound_keys){ code - 'A' + 'a', mods | KEY_SHIFT };
	return (struct bound_keys){ code, mods };
}

/* "f12" after the letter, or "numpad7" after its word: a number up to `max`, -1: none. */
static int parse_key_number(struct span digits, int max)
{
	int number = 0;

	if (digits.len < 1 || digits.len > 2)
		return -1;
	for (size_t i = 0; i < digits.len; i++) {
		if (digits.data[i] < '0' || digits.data[i] > '9')
			return -1;
		number = 10 * number + digits.data[i] - '0';
	}
	return number <= max ? number : -1;
}

/* The code of a key's name without modifiers; -1: it is none; 0: no terminal sends it. */
static int64_t find_key_code(struct span name)
{
	struct span rest = name;
	struct utf8_char c;
	int number;

	if (utf8_next(&rest, &c) && rest.len == 0)
		return c.bad || c.code < ' ' || c.code == 0x7f ? -1 : (int64_t)c.code;
	for (size_t i = 0; i < ARRAY_LEN(key_names); i++)
		if (same_word(name, key_names[i].name))
			return key_names[i].code;
	if (name.len > 1 && (name.data[0] | 0x20) == 'f') {
		number = parse_key_number(span_skip(name, 1), 35);
		return number >= 1 ? KEY_F1 + number - 1 : -1;
	}
	if (name.len == 7 && strncasecmp(name.data, "numpad", 6) == 0) {
		number = parse_key_number(span_skip(name, 6), 9);
		return number >= 0 ? '0' + number : -1;
	}
	return -1;
}

/* Takes the modifiers off the front of a name. */
static uint8_t take_key_mods(struct span *name)
{
	uint8_t mods = 0;

	for (size_t i = 0; i < ARRAY_LEN(mod_names); i++) {
		size_t len = strlen(mod_names[i].prefix);

		if (name->len <= len || strncasecmp(name->data, mod_names[i].prefix, len) != 0)
			continue;
		mods |= mod_names[i].mod;
		*name = span_skip(*name, len);
		i = (size_t)-1; /* in any order */
	}
	return mods;
}

bool bindings_parse_key(struct span name, struct key *ret)
{
	name = span_trim(name);
	uint8_t mods = take_key_mods(&name);
	int64_t code = name.len ? find_key_code(name) : -1;

	if (code < 0)
		return false;
	*ret = (struct key){ .code = (uint32_t)code, .mods = mods };
	return true;
}

static void print_chord(struct buf *out, struct bound_keys key)
{
	static const struct {
		uint8_t mod;
		const char *text;
	} shown[] = { { KEY_CTRL, "Ctrl+" }, { KEY_ALT, "Alt+" }, { KEY_SHIFT, "Shift+" },
		      { KEY_META, "Cmd+" } };
	char text[4];

	for (size_t i = 0; i < ARRAY_LEN(shown); i++)
		if (key.mods & shown[i].mod)
			buf_str(out, shown[i].text);
	for (size_t i = 0; i < ARRAY_LEN(key_names); i++) {
		if (key_names[i].code == key.code && key_names[i].shown) {
			buf_str(out, key_names[i].shown);
			return;
		}
	}
	if (key.code >= KEY_F1 && key.code <= KEY_F35)
		buf_printf(out, "F%u", key.code - KEY_F1 + 1);
	else if (key.code >= 'a' && key.code <= 'z')
		buf_char(out, (char)(key.code - 'a' + 'A'));
	else
		buf_append(out, text, utf8_put(key.code, text));
}

static void refresh_chord(struct bindings *bindings, enum bind command)
{
	_cleanup_buf_ struct buf out = BUF_INIT(CHORD_MAX - 1);

	if (bindings->commands[command].count)
		print_chord(&out, bindings->commands[command].keys[0]);
	snprintf(bindings->commands[command].chord, CHORD_MAX, "%s", out.data ? out.data : "");
}

/* Where the command's keys have this one; their count: nowhere. */
static size_t find_bound(const struct bindings *bindings, enum bind command, struct bound_keys key)
{
	size_t i = 0;

	while (i < bindings->commands[command].count &&
	       (bindings->commands[command].keys[i].code != key.code ||
	        bindings->commands[command].keys[i].mods != key.mods))
		i++;
	return i;
}

static bool unbind_key(struct bindings *bindings, enum bind command, struct bound_keys key)
{
	size_t at = find_bound(bindings, command, key);
	size_t count = bindings->commands[command].count;
	struct bound_keys *keys = bindings->commands[command].keys;

	if (at == count)
		return false;
	memmove(keys + at, keys + at + 1, (count - at - 1) * sizeof(*keys));
	bindings->commands[command].count--;
	refresh_chord(bindings, command);
	return true;
}

/* As the first of its keys. False: it has too many. */
static bool bind_key(struct bindings *bindings, enum bind command, struct bound_keys key)
{
	struct bound_keys *keys = bindings->commands[command].keys;

	unbind_key(bindings, command, key);
	if (bindings->commands[command].count == BINDINGS_KEYS_MAX)
		return false;
	memmove(keys + 1, keys, bindings->commands[command].count * sizeof(*keys));
	keys[0] = key;
	bindings->commands[command].count++;
	refresh_chord(bindings, command);
	return true;
}

static void bind_defaults(struct bindings *bindings, enum bind command)
{
	const char *rest = bind_rows[command].keys;

	while (*rest) {
		size_t len = strcspn(rest, " ");
		struct key key;

		if (bindings_parse_key(span_of(rest, len), &key))
			bindings->commands[command].keys[bindings->commands[command].count++] =
				normalize_key(key.code, key.mods);
		rest += len + (rest[len] == ' ');
	}
	refresh_chord(bindings, command);
}

struct bindings *bindings_new(void)
{
	struct bindings *bindings = mem_alloc(1, sizeof(*bindings));

	for (size_t i = 0; i < BIND_COUNT; i++)
		bind_defaults(bindings, (enum bind)i);
	return bindings;
}

void bindings_free(struct bindings *bindings)
{
	free(bindings);
}

/* Where the warnings of a file go. */
struct binding_warner {
	void (*warn)(void *data, const char *sentence);
	void *data;
	size_t row; /* from 1 */
};

static void __attribute__((format(printf, 2, 3)))
warn_binding(const struct binding_warner *warner, const char *format, ...)
{
	char what[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	_cleanup_free_ char *sentence =
		mem_printf("keybindings.json, entry %zu: %s", warner->row, what);
	if (warner->warn)
		warner->warn(warner->data, sentence);
}

static bool find_bind(struct span name, enum bind *ret)
{
	for (size_t i = 0; i < BIND_COUNT; i++) {
		if (span_eq(name, span_str(bind_rows[i].name))) {
			*ret = (enum bind)i;
			return true;
		}
	}
	return false;
}

static void apply_binding(struct bindings *bindings, const json_t *row,
                          const struct binding_warner *warner)
{
	struct span name = json_span(json_object_get(row, "command"));
	struct span key_name = json_span(json_object_get(row, "key"));
	bool remove = span_starts(name, SPAN("-"));
	enum bind command;
	struct key key;

	if (name.len == 0 || key_name.len == 0) {
		warn_binding(warner, "it needs \"command\" and \"key\", both strings.");
	} else if (!find_bind(span_skip(name, remove), &command)) {
		warn_binding(warner, "there is no command \"%.*s\".", (int)(name.len - remove),
		             name.data + remove);
	} else if (!bindings_parse_key(key_name, &key)) {
		warn_binding(warner, "\"%.*s\" is no key: a key is ctrl+, alt+, shift+ or cmd+ "
		             "before a character or a name such as enter, pageup or f5.",
		             (int)key_name.len, key_name.data);
	} else if (key.code == 0) {
		warn_binding(warner, "no terminal reports the key \"%.*s\".", (int)key_name.len,
		             key_name.data);
	} else {
		struct bound_keys bound = normalize_key(key.code, key.mods);

		if (remove && !unbind_key(bindings, command, bound))
			warn_binding(warner, "%s does not have the key \"%.*s\".",
			             bind_rows[command].name, (int)key_name.len, key_name.data);
		else if (!remove && !bind_key(bindings, command, bound))
			warn_binding(warner, "%s has %d keys already.", bind_rows[command].name,
			             BINDINGS_KEYS_MAX);
	}
}

void bindings_read(struct bindings *bindings, struct span text,
                   void (*warn)(void *data, const char *sentence), void *data)
{
	struct binding_warner warner = { .warn = warn, .data = data };
	struct err err = ERR_INIT;
	json_t *rows;

	if (span_is_blank(text))
		return;
	if (text.len > BINDINGS_FILE_MAX || !jsonc_parse(text, &rows, &err)) {
		_cleanup_free_ char *sentence =
			mem_printf("keybindings.json is not used: %s",
			           err.code ? err.message : "It is larger than 1 MB.");
		if (warn)
			warn(data, sentence);
		return;
	}
	if (!json_is_array(rows) && warn)
		warn(data, "keybindings.json is not used: it must be an array of "
		           "{\"command\", \"key\"}.");
	for (size_t i = 0; i < json_array_size(rows); i++) {
		warner.row = i + 1;
		apply_binding(bindings, json_array_get(rows, i), &warner);
	}
	json_decref(rows);
}

bool bindings_has(const struct bindings *bindings, enum bind command, const struct key *key)
{
	return find_bound(bindings, command, normalize_key(key->code, key->mods)) <
	       bindings->commands[command].count;
}

const char *bindings_chord(const struct bindings *bindings, enum bind command)
{
	return bindings->commands[command].chord;
}

void bindings_chords(const struct bindings *bindings, enum bind command, struct buf *out)
{
	for (size_t i = 0; i < bindings->commands[command].count; i++) {
		buf_str(out, i ? ", " : "");
		print_chord(out, bindings->commands[command].keys[i]);
	}
}

const char *bindings_help(enum bind command)
{
	return bind_rows[command].help;
}

const char *bindings_name(enum bind command)
{
	return bind_rows[command].name;
}

void bindings_list(const struct bindings *bindings,
                   void (*each)(void *data, enum bind command, const char *chords), void *data)
{
	for (size_t i = 0; i < BIND_COUNT; i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(BINDINGS_KEYS_MAX * CHORD_MAX);

		bindings_chords(bindings, (enum bind)i, &out);
		if (out.len)
			each(data, (enum bind)i, out.data);
	}
}
