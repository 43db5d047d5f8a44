/* SPDX-License-Identifier: Apache-2.0 */
/* JSON with comments: read with its comments taken out, members found in its text, one of them
 * changed with everything else left as it is. */
#include "data/jsonc.h"

#include "base/mem.h"
#include "base/text.h"

/* One member of an object, as offsets into the text. */
struct jsonc_member {
	size_t name;  /* its quotation mark */
	size_t value; /* the value's first byte */
	size_t end;   /* after the value */
};

/* Where a path leads in `plain` (from jsonc_blank with keep_bytes: valid JSON but for trailing
 * commas). */
struct jsonc_place {
	size_t object;       /* the innermost object on the way that is there: its brace */
	struct span rest;    /* what of the path is not there; empty: `member` is it */
	struct jsonc_member member;
	bool blocked;        /* something on the way is no object */
	struct span blocker; /* the path's part that is none, if blocked */
};

/* ---- reading ---------------------------------------------------------------------- */

/* Reading: what JSON does not have is blanked out, and json.h reads the rest. */

#define BOM SPAN("\xEF\xBB\xBF")

/* One pass over a text, making the same text without comments and trailing commas. */
struct blanker {
	struct span text;
	size_t at;
	bool keep_bytes; /* a blank for every byte, not for every character */
	struct buf *out;
	char before;     /* the last character that is no blank; 0: none yet */
	size_t comma;    /* where in `out` a comma waits for what follows it */
	bool comma_waits;
};

static char blanker_byte(const struct blanker *blanker, size_t ahead)
{
	size_t at = blanker->at + ahead;

	return at < blanker->text.len ? blanker->text.data[at] : '\0';
}

/* Takes one byte of a comment. */
static void blank_one(struct blanker *blanker)
{
	char c = blanker->text.data[blanker->at++];

	if (c == '\n' || c == '\r')
		buf_char(blanker->out, c);
	else if (blanker->keep_bytes || ((unsigned char)c & 0xC0) != 0x80)
		buf_char(blanker->out, ' ');
}

static void blank_line_comment(struct blanker *blanker)
{
	while (blanker->at < blanker->text.len && blanker->text.data[blanker->at] != '\n')
		blank_one(blanker);
}

/* False when it has no end. */
static bool blank_block_comment(struct blanker *blanker)
{
	blank_one(blanker);
	blank_one(blanker);
	while (blanker->at < blanker->text.len) {
		bool ends = blanker_byte(blanker, 0) == '*' && blanker_byte(blanker, 1) == '/';

		blank_one(blanker);
		if (ends) {
			blank_one(blanker);
			return true;
		}
	}
	return false;
}

static void copy_string(struct blanker *blanker)
{
	size_t from = blanker->at++;

	while (blanker->at < blanker->text.len && blanker->text.data[blanker->at] != '"')
		blanker->at += blanker->text.data[blanker->at] == '\\' ? 2 : 1;
	blanker->at = blanker->at < blanker->text.len ? blanker->at + 1 : blanker->text.len;
	buf_append(blanker->out, blanker->text.data + from, blanker->at - from);
}

/* A comma before a closing bracket is taken out, if there is something before it. */
static void blanker_note(struct blanker *blanker, char c)
{
	if ((c == '}' || c == ']') && blanker->comma_waits && !blanker->keep_bytes &&
	    !blanker->out->overflowed)
		blanker->out->data[blanker->comma] = ' ';
	blanker->comma_waits = c == ',' && blanker->before && !strchr("[{,:", blanker->before);
	blanker->comma = blanker->out->len;
	blanker->before = c;
}

static void copy_character(struct blanker *blanker, char c)
{
	if (!strchr(" \t\r\n", c) || !c)
		blanker_note(blanker, c);
	if (c == '"') {
		copy_string(blanker);
		return;
	}
	buf_char(blanker->out, c);
	blanker->at++;
}

/* Appends the text with comments as blanks; line ends stay. `keep_bytes`: with every byte where it
 * was; otherwise every character, without the BOM, and with trailing commas as blanks too.  False:
 * a comment, at *ret_open, has no end. */
static bool jsonc_blank(struct span text, bool keep_bytes, struct buf *out, size_t *ret_open)
{
	struct blanker blanker = { .text = text, .keep_bytes = keep_bytes, .out = out };

	if (span_starts(text, BOM)) {
		blanker.at = BOM.len;
		if (keep_bytes)
			buf_str(out, "   ");
	}
	while (blanker.at < text.len) {
		char c = text.data[blanker.at];
		size_t from = blanker.at;

		if (c == '/' && blanker_byte(&blanker, 1) == '/') {
			blank_line_comment(&blanker);
		} else if (c == '/' && blanker_byte(&blanker, 1) == '*') {
			if (!blank_block_comment(&blanker)) {
				*ret_open = from;
				return false;
			}
		} else {
			copy_character(&blanker, c);
		}
	}
	return true;
}

/* The line, from 1, of the byte at `at`. */
static unsigned jsonc_line_at(struct span text, size_t at)
{
	unsigned line = 1;

	for (size_t i = 0; i < at && i < text.len; i++)
		line += text.data[i] == '\n';
	return line;
}

/* `ret_line` NULL: no name may repeat. */
static bool jsonc_parse_text(struct span text, json_t **ret, unsigned *ret_line, struct err *err)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(text.len + 8);
	size_t open;

	if (!jsonc_blank(text, /* keep_bytes= */ false, &plain, &open))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The comment that begins on line %u has no end.",
		               jsonc_line_at(text, open));
	if (plain.overflowed)
		return err_set(err, ERR_TOO_LARGE, "There is no memory for the text.");
	if (ret_line)
		*ret_line = 0;
	if (!span_trim(buf_view(&plain)).len) {
		*ret = json_object();
		return true;
	}
	return ret_line ?
	               json_parse_repeating(buf_view(&plain), JSONC_DEPTH_MAX, ret, ret_line, err) :
	               json_parse_depth(buf_view(&plain), JSONC_DEPTH_MAX, ret, err);
}

bool jsonc_parse(struct span text, json_t **ret, struct err *err)
{
	return jsonc_parse_text(text, ret, NULL, err);
}

bool jsonc_parse_repeating(struct span text, json_t **ret, unsigned *ret_line, struct err *err)
{
	return jsonc_parse_text(text, ret, ret_line, err);
}

/* ---- finding members -------------------------------------------------------------- */

/* Finding members in the text.  It is known to be valid JSON, so errors need no reports, but reads
 * stay within bounds. */

/* The first byte from `at` on that is no blank; text.len if there is none. */
static size_t jsonc_skip_blank(struct span text, size_t at)
{
	while (at < text.len && strchr(" \t\r\n", text.data[at]) && text.data[at])
		at++;
	return at;
}

/* After the string that begins at `at`. */
static size_t jsonc_skip_string(struct span text, size_t at)
{
	for (at++; at < text.len && text.data[at] != '"'; at++)
		at += text.data[at] == '\\';
	return at < text.len ? at + 1 : text.len;
}

/* After the value that begins at `at`. */
static size_t skip_value(struct span text, size_t at)
{
	size_t depth = 0;

	while (at < text.len) {
		char c = text.data[at];

		if (c == '"') {
			at = jsonc_skip_string(text, at);
		} else if (c == '{' || c == '[') {
			depth++;
			at++;
		} else if (c == '}' || c == ']') {
			depth--;
			at++;
		} else if (depth) {
			at++;
			continue;
		} else {
			while (at < text.len && !strchr(" \t\r\n,]}", text.data[at]))
				at++;
		}
		if (!depth)
			return at;
	}
	return at;
}

/* The member's name, a new reference. */
static bool jsonc_name(struct span plain, const struct jsonc_member *member, json_t **ret,
                       struct err *err)
{
	const size_t end = jsonc_skip_string(plain, member->name);

	return json_parse(span_of(plain.data + member->name, end - member->name), ret, err);
}

/* Steps through the members of the object whose brace is at *at (first call) or that last ended
 * there; false at the end, with *at on the closing brace. */
static bool jsonc_next_member(struct span plain, size_t *at, struct jsonc_member *ret)
{
	size_t next = jsonc_skip_blank(plain, *at + (plain.data[*at] == '{'));

	if (next < plain.len && plain.data[next] == ',')
		next = jsonc_skip_blank(plain, next + 1);
	*at = next;
	if (next >= plain.len || plain.data[next] != '"')
		return false;
	ret->name = next;
	next = jsonc_skip_blank(plain, jsonc_skip_string(plain, next));
	ret->value = jsonc_skip_blank(plain, next + 1); /* past the colon */
	ret->end = *at = skip_value(plain, ret->value);
	return *at < plain.len;
}

static bool name_is(struct span plain, size_t at, struct span name)
{
	struct span raw = span_of(plain.data + at, jsonc_skip_string(plain, at) - at);
	struct err err = ERR_INIT;
	json_t *decoded;
	bool same;

	if (!memchr(raw.data, '\\', raw.len))
		return span_eq(span_of(raw.data + 1, raw.len - 2), name);
	if (!json_parse(raw, &decoded, &err))
		return false;
	same = span_eq(json_span(decoded), name);
	json_decref(decoded);
	return same;
}

static bool jsonc_find_member(struct span plain, size_t object, struct span name,
                              struct jsonc_member *ret)
{
	size_t at = object;

	while (jsonc_next_member(plain, &at, ret))
		if (name_is(plain, ret->name, name))
			return true;
	return false;
}

static void jsonc_locate(struct span plain, struct span path, struct jsonc_place *ret)
{
	struct span rest = path;

	*ret = (struct jsonc_place){ .object = jsonc_skip_blank(plain, 0), .rest = path };
	for (;;) {
		const char *dot = rest.len ? memchr(rest.data, '.', rest.len) : NULL;
		struct span name = dot ? span_of(rest.data, (size_t)(dot - rest.data)) : rest;

		if (!jsonc_find_member(plain, ret->object, name, &ret->member))
			return;
		rest = span_skip(rest, name.len + (dot != NULL));
		if (!dot) {
			ret->rest = rest;
			return;
		}
		if (plain.data[ret->member.value] != '{') {
			ret->blocked = true;
			ret->blocker = span_of(path.data, (size_t)(rest.data - 1 - path.data));
			return;
		}
		ret->object = ret->member.value;
		ret->rest = rest;
	}
}

/* ---- changing one member ---------------------------------------------------------- */

/* Changing one member: the place is found in a copy without comments whose bytes stand where they
 * stood, and
 * the change is made to the original. */

/* How the text is written where a member goes. */
struct manner {
	struct span newline;
	struct span indent; /* of the member's line */
	struct span unit;   /* one level more */
	bool one_line;
};

struct jsonc_change {
	struct span text;  /* the original */
	struct span plain; /* the same, blanked */
	struct buf *out;
};

/* The white space with which the line of `at` begins. */
static struct span jsonc_indent(struct span text, size_t at)
{
	size_t from = at, to;

	while (from && text.data[from - 1] != '\n')
		from--;
	to = from;
	while (to < at && (text.data[to] == ' ' || text.data[to] == '\t'))
		to++;
	return span_of(text.data + from, to - from);
}

static bool line_between(struct span text, size_t from, size_t to)
{
	return memchr(text.data + from, '\n', to - from) != NULL;
}

/* One level of the outermost object's first member, or two spaces. */
static struct span unit_of(struct span text, struct span plain)
{
	size_t root = jsonc_skip_blank(plain, 0), at = root;
	struct jsonc_member first;
	struct span indent;

	if (!jsonc_next_member(plain, &at, &first) || !line_between(text, root, first.name))
		return SPAN("  ");
	indent = jsonc_indent(text, first.name);
	return indent.len && indent.len <= 8 ? indent : SPAN("  ");
}

static struct span newline_of(struct span text)
{
	const char *lf = text.len ? memchr(text.data, '\n', text.len) : NULL;

	return lf && lf > text.data && lf[-1] == '\r' ? SPAN("\r\n") : SPAN("\n");
}

/* Prints a value the way its neighbours are written: lines after the first begin with `indent`. */
static bool jsonc_print_value(struct buf *out, const json_t *value, const struct manner *manner)
{
	_cleanup_buf_ struct buf printed = BUF_INIT(out->max);
	struct span rest, line;

	if (!json_print(&printed, value, manner->one_line ? 0 : 2))
		return false;
	rest = buf_view(&printed);
	for (bool first = true; line_next(&rest, &line); first = false) {
		struct span body = line_body(line);
		size_t level = 0;

		while (level < body.len && body.data[level] == ' ')
			level++;
		if (!first) {
			buf_span(out, manner->newline);
			buf_span(out, manner->indent);
			for (size_t i = 0; i < level / 2; i++)
				buf_span(out, manner->unit);
		}
		buf_span(out, span_skip(body, level));
	}
	return !out->overflowed;
}

/* `value` inside of objects for what of the path is missing; its last name goes to *ret_name. */
static json_t *jsonc_wrap_value(struct span rest, const json_t *value, struct span *ret_name)
{
	const char *dot = memchr(rest.data, '.', rest.len);
	json_t *inner = json_incref((json_t *)value);
	size_t first = dot ? (size_t)(dot - rest.data) : rest.len;

	for (size_t end = rest.len; end > first;) {
		size_t from = end;
		json_t *outer = json_object();

		while (rest.data[from - 1] != '.')
			from--;
		json_object_setn_new(outer, rest.data + from, end - from, inner);
		inner = outer;
		end = from - 1;
	}
	*ret_name = span_head(rest, first);
	return inner;
}

static bool print_member(struct buf *out, struct span rest, const json_t *value,
                         const struct manner *manner)
{
	struct span name;
	json_t *whole = jsonc_wrap_value(rest, value, &name);
	bool ok;

	json_print_string(out, name);
	buf_str(out, ": ");
	ok = jsonc_print_value(out, whole, manner);
	json_decref(whole);
	return ok;
}

/* After the comments that follow `at` on its line: they belong to what stands before them. */
static size_t behind_comments(struct span text, size_t at)
{
	size_t behind = at;

	for (;;) {
		struct span rest;

		while (at < text.len && (text.data[at] == ' ' || text.data[at] == '\t'))
			at++;
		rest = span_skip(text, at);
		if (span_starts(rest, SPAN("//"))) {
			const char *lf = memchr(rest.data, '\n', rest.len);
			size_t end = lf ? (size_t)(lf - text.data) : text.len;

			return end && text.data[end - 1] == '\r' ? end - 1 : end;
		}
		if (!span_starts(rest, SPAN("/*")))
			return behind;
		for (at += 2; !span_starts(span_skip(text, at), SPAN("*/")); at++)
			;
		behind = at += 2;
	}
}

static void change_copy(const struct jsonc_change *change, size_t from, size_t to)
{
	buf_append(change->out, change->text.data + from, to - from);
}

/* Into an object without members: comments that are in it stay before the new one. */
static bool insert_first(const struct jsonc_change *change, size_t open, size_t close,
                         struct span rest, const json_t *value)
{
	struct span outer = jsonc_indent(change->text, open);
	_cleanup_buf_ struct buf indent = BUF_INIT(1 << 16);
	struct manner manner = { .newline = newline_of(change->text),
		                 .unit = unit_of(change->text, change->plain) };
	size_t at = close;

	buf_span(&indent, outer);
	buf_span(&indent, manner.unit);
	manner.indent = buf_view(&indent);
	while (at > open + 1 && strchr(" \t\r\n", change->text.data[at - 1]))
		at--;
	change_copy(change, 0, at);
	buf_span(change->out, manner.newline);
	buf_span(change->out, manner.indent);
	if (!print_member(change->out, rest, value, &manner))
		return false;
	buf_span(change->out, manner.newline);
	buf_span(change->out, outer);
	change_copy(change, close, change->text.len);
	return true;
}

/* After the last of an object's members. */
static bool insert_last(const struct jsonc_change *change, size_t open, size_t first,
                        const struct jsonc_member *last, struct span rest, const json_t *value)
{
	struct span text = change->text;
	struct manner manner = { .newline = newline_of(text),
		                 .indent = jsonc_indent(text, last->name),
		                 .unit = unit_of(text, change->plain),
		                 .one_line = !line_between(text, open, first) };
	size_t comma = jsonc_skip_blank(change->plain, last->end);
	bool trails = comma < text.len && change->plain.data[comma] == ',';
	size_t at = trails ? comma + 1 : last->end;

	change_copy(change, 0, at);
	if (!trails)
		buf_char(change->out, ',');
	if (manner.one_line) {
		buf_char(change->out, ' ');
	} else {
		size_t behind = behind_comments(text, at);

		change_copy(change, at, behind);
		at = behind;
		buf_span(change->out, manner.newline);
		buf_span(change->out, manner.indent);
	}
	if (!print_member(change->out, rest, value, &manner))
		return false;
	change_copy(change, at, text.len);
	return true;
}

static bool change_insert(const struct jsonc_change *change, size_t open, struct span rest,
                          const json_t *value)
{
	struct jsonc_member member, first, last;
	size_t at = open, count = 0;

	while (jsonc_next_member(change->plain, &at, &member)) {
		if (!count++)
			first = member;
		last = member;
	}
	return count ? insert_last(change, open, first.name, &last, rest, value)
	             : insert_first(change, open, at, rest, value);
}

static bool change_replace(const struct jsonc_change *change, const struct jsonc_member *member,
                           const json_t *value)
{
	struct manner manner = { .newline = newline_of(change->text),
		                 .indent = jsonc_indent(change->text, member->name),
		                 .unit = unit_of(change->text, change->plain) };

	change_copy(change, 0, member->value);
	if (!jsonc_print_value(change->out, value, &manner))
		return false;
	change_copy(change, member->end, change->text.len);
	return true;
}

/* The comma that goes with a member that is taken out: the one after it, else the one before. */
static size_t comma_of(struct span plain, const struct jsonc_member *member)
{
	size_t behind = jsonc_skip_blank(plain, member->end), before = member->name;

	if (behind < plain.len && plain.data[behind] == ',')
		return behind;
	while (before && strchr(" \t\r\n", plain.data[before - 1]))
		before--;
	return before && plain.data[before - 1] == ',' ? before - 1 : plain.len;
}

/* Takes [from, to) out, and with it its lines if nothing else is on them. */
static void widen_removal(struct span text, size_t *from, size_t *to)
{
	size_t begin = *from, end = *to;

	while (begin && (text.data[begin - 1] == ' ' || text.data[begin - 1] == '\t'))
		begin--;
	while (end < text.len && strchr(" \t\r", text.data[end]) && text.data[end])
		end++;
	if (begin && text.data[begin - 1] == '\n' && end < text.len && text.data[end] == '\n') {
		*from = begin;
		*to = end + 1;
	}
}

static bool change_take_out(const struct jsonc_change *change, const struct jsonc_member *member)
{
	size_t comma = comma_of(change->plain, member), from = member->name, to = member->end;

	if (comma >= to && comma < change->text.len) {
		/* What stands between a value and its comma is blank, or a comment that stays. */
		if (jsonc_skip_blank(change->text, to) == comma) {
			to = comma + 1;
			comma = change->text.len;
		}
	}
	widen_removal(change->text, &from, &to);
	if (comma < from) {
		change_copy(change, 0, comma);
		change_copy(change, comma + 1, from);
		change_copy(change, to, change->text.len);
	} else {
		change_copy(change, 0, from);
		change_copy(change, to, comma);
		change_copy(change, comma < change->text.len ? comma + 1 : comma, change->text.len);
	}
	return true;
}

/* A text without a value gets one after its comments. */
static bool change_begin(const struct jsonc_change *change, struct span path, const json_t *value)
{
	struct manner manner = { .newline = newline_of(change->text), .unit = SPAN("  "),
		                 .indent = SPAN("  ") };

	buf_span(change->out, change->text);
	if (!value)
		return true;
	if (change->text.len && change->text.data[change->text.len - 1] != '\n')
		buf_span(change->out, manner.newline);
	buf_char(change->out, '{');
	buf_span(change->out, manner.newline);
	buf_span(change->out, manner.indent);
	if (!print_member(change->out, path, value, &manner))
		return false;
	buf_span(change->out, manner.newline);
	buf_char(change->out, '}');
	buf_span(change->out, manner.newline);
	return true;
}

static bool change_make(const struct jsonc_change *change, struct span path, const json_t *value,
                        struct err *err)
{
	struct jsonc_place place;
	size_t root = jsonc_skip_blank(change->plain, 0);

	if (root == change->plain.len)
		return change_begin(change, path, value);
	if (change->plain.data[root] != '{')
		return err_set(err, ERR_INVALID_ARGUMENT, "The text does not hold an object.");
	jsonc_locate(change->plain, path, &place);
	if (place.blocked)
		return err_set(err, ERR_INVALID_ARGUMENT, "\"%.*s\" is there and is no object.",
		               (int)place.blocker.len, place.blocker.data);
	if (!place.rest.len)
		return value ? change_replace(change, &place.member, value)
		             : change_take_out(change, &place.member);
	if (value)
		return change_insert(change, place.object, place.rest, value);
	buf_span(change->out, change->text);
	return true;
}

/* No empty names: a path of them says nothing. */
static bool path_is_good(struct span path)
{
	for (size_t i = 0; i < path.len; i++)
		if (path.data[i] == '.' && (!i || i + 1 == path.len || path.data[i + 1] == '.'))
			return false;
	return path.len > 0;
}

bool jsonc_set(struct span text, const char *path, const json_t *value, struct buf *out,
               struct err *err)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(text.len + 1);
	size_t open;
	json_t *checked;

	if (!path_is_good(span_str(path)))
		return err_set(err, ERR_INVALID_ARGUMENT, "\"%s\" is not a path of names.", path);
	if (!jsonc_parse(text, &checked, err))
		return false;
	json_decref(checked);
	jsonc_blank(text, /* keep_bytes= */ true, &plain, &open);
	if (!plain.overflowed) {
		struct jsonc_change change = { text, buf_view(&plain), out };
		struct err why = ERR_INIT;

		if (change_make(&change, span_str(path), value, &why) && !out->overflowed)
			return true;
		if (why.code) {
			*err = why;
			return false;
		}
	}
	return err_set(err, ERR_TOO_LARGE, "The changed text would be too large.");
}

/* The number of lines up to a place in the text. */
struct line_count {
	struct span plain;
	size_t counted;
	unsigned line;
};

/* The members of the object whose brace is at `at`. */
static json_t *lines_of(struct line_count *count, size_t at, unsigned depth)
{
	json_t *lines = json_object();
	struct jsonc_member member;

	while (jsonc_next_member(count->plain, &at, &member)) {
		struct err ignored = ERR_INIT;
		json_auto_t *name = NULL;
		json_t *below;

		for (; count->counted < member.name; count->counted++)
			count->line += count->plain.data[count->counted] == '\n';
		if (!jsonc_name(count->plain, &member, &name, &ignored) ||
		    !json_string_length(name) || strchr(json_string_value(name), '.') ||
		    json_object_get(lines, json_string_value(name)))
			continue;
		below = json_integer(count->line);
		if (depth && count->plain.data[member.value] == '{') {
			json_t *object = lines_of(count, member.value, depth - 1);

			json_object_set_new(object, "", below);
			below = object;
		}
		json_object_set_new(lines, json_string_value(name), below);
	}
	return lines;
}

json_t *jsonc_lines(struct span text)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(text.len + 1);
	struct line_count count = { .line = 1 };
	size_t open, root;

	if (!jsonc_blank(text, /* keep_bytes= */ true, &plain, &open) || plain.overflowed)
		return json_object();
	count.plain = buf_view(&plain);
	root = jsonc_skip_blank(count.plain, 0);
	if (root == plain.len || plain.data[root] != '{')
		return json_object();
	return lines_of(&count, root, JSONC_DEPTH_MAX);
}

unsigned jsonc_line(const json_t *lines, const char *path)
{
	const char *dot;

	if (!*path)
		return 0;
	for (; (dot = strchr(path, '.')); path = dot + 1)
		lines = dot == path ? NULL : json_object_getn(lines, path, (size_t)(dot - path));
	lines = *path ? json_object_get(lines, path) : NULL;
	if (json_is_object(lines))
		lines = json_object_get(lines, "");
	return (unsigned)json_integer_value(lines);
}
