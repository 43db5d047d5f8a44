/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling and matching one path pattern.
 *
 * Both levels, characters within a component and components within a path, are
 * matched greedily with one resumption point: when something after a star does
 * not fit, only the last star takes one more.  Earlier stars need never be
 * reconsidered, so there is no backtracking to explode. */
#include "search/rules/pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/span.h"

/* ---- bracket expressions of path patterns ---- */

/* The bytes that an expression stands for. */
struct byte_set {
	unsigned char bits[32];
};

static inline bool byte_set_has(const struct byte_set *set, unsigned char c)
{
	return (set->bits[c >> 3] >> (c & 7) & 1) != 0;
}

/* Bracket expressions: POSIX XCU 2.13.1, in the C locale, with backslash as an
 * escape inside and '^' like '!' (both as git's wildmatch has them; there are no
 * equivalence classes and collating symbols).
 *
 *     bracket = "[" ["!" | "^"] item {item} "]"       the first item may be "]"
 *     item    = "[:" name ":]" | char ["-" char] */

static bool is_upper_byte(int c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower_byte(int c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_blank_byte(int c)
{
	return c == ' ' || c == '\t';
}

static bool is_cntrl(int c)
{
	return c < 0x20 || c == 0x7f;
}

static bool is_graph(int c)
{
	return c > 0x20 && c < 0x7f;
}

static bool is_print(int c)
{
	return c >= 0x20 && c < 0x7f;
}

static bool is_punct(int c)
{
	return is_graph(c) && !ascii_is_alnum(c);
}

static bool is_space(int c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_xdigit(int c)
{
	return ascii_hex(c) >= 0;
}

static const struct {
	struct span name;
	bool (*has)(int c);
} classes[] = {
	{ SPAN("alnum"), ascii_is_alnum }, { SPAN("alpha"), ascii_is_letter },
	{ SPAN("blank"), is_blank_byte },  { SPAN("cntrl"), is_cntrl },
	{ SPAN("digit"), ascii_is_digit }, { SPAN("graph"), is_graph },
	{ SPAN("lower"), is_lower_byte },  { SPAN("print"), is_print },
	{ SPAN("punct"), is_punct },       { SPAN("space"), is_space },
	{ SPAN("upper"), is_upper_byte },  { SPAN("xdigit"), is_xdigit },
};

static void byte_set_add(struct byte_set *set, int c)
{
	set->bits[c >> 3] |= (unsigned char)(1u << (c & 7));
}

static bool set_add_class(struct byte_set *set, struct span name)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if (!span_eq(classes[i].name, name))
			continue;
		for (int c = 0; c < 256; c++) {
			if (classes[i].has(c))
				byte_set_add(set, c);
		}
		return true;
	}
	return false;
}

/* Reads "[:name:]" at text[at]; returns the index after it, `at` when there is no
 * such thing (the bracket is an ordinary one then), text.len + 1 when it is wrong. */
static size_t parse_class(struct span text, size_t at, struct byte_set *set)
{
	size_t end = at + 2;

	if (end > text.len || text.data[at + 1] != ':')
		return at;
	while (end < text.len && text.data[end] != ']')
		end++;
	if (end == text.len)
		return text.len + 1;
	if (end == at + 2 || text.data[end - 1] != ':')
		return at;
	if (!set_add_class(set, span_of(text.data + at + 2, end - 1 - (at + 2))))
		return text.len + 1;
	return end + 1;
}

/* Reads one character, which may be escaped, at *at; -1 at the end. */
static int pattern_parse_char(struct span text, size_t *at)
{
	if (*at < text.len && text.data[*at] == '\\')
		++*at;
	if (*at >= text.len)
		return -1;
	return (unsigned char)text.data[(*at)++];
}

/* Reads an item at *at. False when the text ends, or names no class. */
static bool pattern_parse_item(struct span text, size_t *at, struct byte_set *set)
{
	int first, last;

	if (text.data[*at] == '[' && *at + 1 < text.len) {
		size_t after = parse_class(text, *at, set);

		if (after > text.len)
			return false;
		if (after > *at) {
			*at = after;
			return true;
		}
	}
	first = last = pattern_parse_char(text, at);
	if (first < 0)
		return false;
	if (*at + 1 < text.len && text.data[*at] == '-' && text.data[*at + 1] != ']') {
		++*at;
		last = pattern_parse_char(text, at);
		if (last < 0)
			return false;
		/* The first end of a range counts even when the range is empty. */
		byte_set_add(set, first);
	}
	for (int c = first; c <= last; c++)
		byte_set_add(set, c);
	return true;
}

/* Reads the expression that begins at text[at] == '['. Returns the index after
 * its ']', or 0 with *ret_reason set. '/' is never in the set. */
static size_t bracket_parse(struct span text, size_t at, bool ignore_case, struct byte_set *ret,
                            const char **ret_reason)
{
	struct byte_set set = { { 0 } };
	bool negated = false;

	at++;
	if (at < text.len && (text.data[at] == '!' || text.data[at] == '^')) {
		negated = true;
		at++;
	}
	for (bool first = true; at < text.len && (first || text.data[at] != ']'); first = false) {
		if (!pattern_parse_item(text, &at, &set)) {
			at = text.len;
			break;
		}
	}
	if (at >= text.len) {
		*ret_reason = "a '[' without its ']', or an unknown [:class:]";
		return 0;
	}
	if (ignore_case) {
		/* Both cases of each letter that is there in one. */
		for (int c = 'a'; c <= 'z'; c++) {
			int upper = c - 'a' + 'A';

			if (byte_set_has(&set, (unsigned char)c) ||
			    byte_set_has(&set, (unsigned char)upper)) {
				byte_set_add(&set, c);
				byte_set_add(&set, upper);
			}
		}
	}
	for (size_t i = 0; negated && i < sizeof(set.bits); i++)
		set.bits[i] = (unsigned char)~set.bits[i];
	set.bits['/' >> 3] &= (unsigned char)~(1u << ('/' & 7));
	*ret = set;
	return at + 1;
}

/* ---- one pattern ---- */

enum token_kind { TOKEN_BYTE, TOKEN_ANY, TOKEN_SET, TOKEN_STAR };

struct token {
	uint32_t set; /* index into sets, for TOKEN_SET */
	uint8_t kind;
	uint8_t byte; /* for TOKEN_BYTE; a small letter when case is ignored */
};

/* How a component is matched; the special kinds are the common ones. */
enum component_kind {
	COMPONENT_LITERAL, /* bytes only */
	COMPONENT_SUFFIX,  /* a star, then bytes only */
	COMPONENT_GENERAL,
	COMPONENT_DEEP, /* any number of components */
};

struct component {
	size_t from, to; /* tokens */
	enum component_kind kind;
};

struct pattern {
	struct token *tokens;
	char *bytes; /* per token: of runs of TOKEN_BYTE, compared in one call */
	size_t token_count;
	struct component *components;
	size_t component_count;
	struct byte_set *sets;
	size_t set_count, set_cap;
	bool ignore_case;
};

static unsigned char fold(const struct pattern *pattern, char c)
{
	if (pattern->ignore_case && c >= 'A' && c <= 'Z')
		return (unsigned char)(c - 'A' + 'a');
	return (unsigned char)c;
}

static void add_token(struct pattern *pattern, enum token_kind kind, char byte)
{
	size_t i = pattern->token_count++;

	pattern->bytes[i] = (char)fold(pattern, byte);
	pattern->tokens[i] = (struct token){ .kind = (uint8_t)kind,
	                                     .byte = (uint8_t)pattern->bytes[i] };
}

static void end_component(struct pattern *pattern, size_t from)
{
	size_t to = pattern->token_count, stars = 0, others = 0;
	struct component component = { from, to, COMPONENT_GENERAL };

	for (size_t i = from; i < to; i++) {
		stars += pattern->tokens[i].kind == TOKEN_STAR;
		others += pattern->tokens[i].kind == TOKEN_ANY ||
		          pattern->tokens[i].kind == TOKEN_SET;
	}
	if (stars >= 2 && stars == to - from)
		component.kind = COMPONENT_DEEP;
	else if (stars == 0 && others == 0)
		component.kind = COMPONENT_LITERAL;
	else if (stars == 1 && others == 0 && pattern->tokens[from].kind == TOKEN_STAR)
		component.kind = COMPONENT_SUFFIX;
	pattern->components[pattern->component_count++] = component;
}

/* Reads the token at text[at], which is not '/'. Returns the index after it, 0 on error. */
static size_t parse_token(struct pattern *pattern, struct span text, size_t at,
                          const char **ret_reason)
{
	size_t after;

	switch (text.data[at]) {
	case '*':
		add_token(pattern, TOKEN_STAR, '*');
		return at + 1;
	case '?':
		add_token(pattern, TOKEN_ANY, '?');
		return at + 1;
	case '[':
		if (pattern->set_count == pattern->set_cap)
			pattern->sets = mem_grow(pattern->sets, &pattern->set_cap,
			                         pattern->set_count + 1,
			                         sizeof(*pattern->sets));
		after = bracket_parse(text, at, pattern->ignore_case,
		                      &pattern->sets[pattern->set_count], ret_reason);
		if (after == 0)
			return 0;
		add_token(pattern, TOKEN_SET, '[');
		pattern->tokens[pattern->token_count - 1].set = (uint32_t)pattern->set_count++;
		return after;
	case '\\':
		if (++at == text.len) {
			*ret_reason = "a backslash at its end";
			return 0;
		}
		break;
	default:
		break;
	}
	add_token(pattern, TOKEN_BYTE, text.data[at]);
	return at + 1;
}

struct pattern *pattern_compile(struct span text, bool ignore_case, const char **ret_reason)
{
	struct pattern *pattern = mem_alloc(1, sizeof(*pattern));
	size_t slashes = 0, from = 0;

	for (size_t i = 0; i < text.len; i++)
		slashes += text.data[i] == '/';
	pattern->ignore_case = ignore_case;
	pattern->tokens = mem_alloc(text.len + 1, sizeof(*pattern->tokens));
	pattern->bytes = mem_alloc(text.len + 1, 1);
	pattern->components = mem_alloc(slashes + 1, sizeof(*pattern->components));
	for (size_t at = 0; at < text.len;) {
		bool escaped_slash = text.data[at] == '\\' && at + 1 < text.len &&
		                     text.data[at + 1] == '/';

		if (text.data[at] == '/' || escaped_slash) {
			end_component(pattern, from);
			from = pattern->token_count;
			at += escaped_slash ? 2 : 1;
			continue;
		}
		at = parse_token(pattern, text, at, ret_reason);
		if (at == 0) {
			pattern_free(pattern);
			return NULL;
		}
	}
	end_component(pattern, from);
	return pattern;
}

void pattern_free(struct pattern *pattern)
{
	if (!pattern)
		return;
	free(pattern->tokens);
	free(pattern->bytes);
	free(pattern->components);
	free(pattern->sets);
	free(pattern);
}

int pattern_last_byte(const struct pattern *pattern)
{
	const struct component *last = &pattern->components[pattern->component_count - 1];

	if (pattern->ignore_case || last->to == last->from ||
	    pattern->tokens[last->to - 1].kind != TOKEN_BYTE)
		return -1;
	return pattern->tokens[last->to - 1].byte;
}

bool pattern_literal(const struct pattern *pattern, struct buf *ret)
{
	if (pattern->ignore_case)
		return false;
	for (size_t i = 0; i < pattern->component_count; i++)
		if (pattern->components[i].kind != COMPONENT_LITERAL)
			return false;
	for (size_t i = 0; i < pattern->component_count; i++) {
		const struct component *component = &pattern->components[i];

		if (i > 0)
			buf_char(ret, '/');
		buf_append(ret, pattern->bytes + component->from, component->to - component->from);
	}
	return true;
}

static bool bytes_match(const struct pattern *pattern, size_t from, size_t to,
                        struct span text)
{
	if (text.len != to - from)
		return false;
	if (!pattern->ignore_case)
		return text.len == 0 || memcmp(pattern->bytes + from, text.data, text.len) == 0;
	for (size_t i = 0; i < text.len; i++) {
		if (fold(pattern, text.data[i]) != (unsigned char)pattern->bytes[from + i])
			return false;
	}
	return true;
}

static bool token_fits(const struct pattern *pattern, const struct token *token, char c)
{
	if (token->kind == TOKEN_BYTE)
		return token->byte == fold(pattern, c);
	if (token->kind == TOKEN_SET)
		return byte_set_has(&pattern->sets[token->set], (unsigned char)c);
	return token->kind == TOKEN_ANY;
}

static bool tokens_match(const struct pattern *pattern, const struct component *component,
                         struct span name)
{
	size_t token = component->from, at = 0;
	size_t star = SIZE_MAX, star_at = 0; /* the last star, and where it resumes */

	while (at < name.len) {
		if (token < component->to && pattern->tokens[token].kind == TOKEN_STAR) {
			star = token++;
			star_at = at;
		} else if (token < component->to &&
		           token_fits(pattern, &pattern->tokens[token], name.data[at])) {
			token++;
			at++;
		} else if (star != SIZE_MAX) {
			token = star + 1;
			at = ++star_at;
		} else {
			return false;
		}
	}
	while (token < component->to && pattern->tokens[token].kind == TOKEN_STAR)
		token++;
	return token == component->to;
}

static bool component_match(const struct pattern *pattern, const struct component *component,
                            struct span name)
{
	size_t suffix = component->to - component->from - 1;

	switch (component->kind) {
	case COMPONENT_LITERAL:
		return bytes_match(pattern, component->from, component->to, name);
	case COMPONENT_SUFFIX:
		return name.len >= suffix &&
		       bytes_match(pattern, component->from + 1, component->to,
		                   span_skip(name, name.len - suffix));
	default:
		return tokens_match(pattern, component, name);
	}
}

/* The component of the path at `at`; *ret_next is where the next one begins,
 * path.len + 1 after the last. */
static struct span path_component(struct span path, size_t at, size_t *ret_next)
{
	const char *slash = memchr(path.data + at, '/', path.len - at);
	size_t end = slash ? (size_t)(slash - path.data) : path.len;

	*ret_next = end + 1;
	return span_of(path.data + at, end - at);
}

bool pattern_match(const struct pattern *pattern, struct span path)
{
	size_t i = 0, at = 0, next;
	size_t deep = SIZE_MAX, deep_at = 0; /* as the star in tokens_match */

	if (path.len == 0)
		return pattern->component_count == 1 &&
		       component_match(pattern, &pattern->components[0], path);
	while (at <= path.len) {
		const struct component *component = &pattern->components[i];

		if (i < pattern->component_count && component->kind == COMPONENT_DEEP) {
			if (i + 1 == pattern->component_count)
				return true; /* there is at least one component left */
			deep = i++;
			deep_at = at;
			continue;
		}
		if (i < pattern->component_count &&
		    component_match(pattern, component, path_component(path, at, &next))) {
			i++;
			at = next;
			continue;
		}
		if (deep == SIZE_MAX)
			return false;
		i = deep + 1;
		path_component(path, deep_at, &next);
		at = deep_at = next;
	}
	return i == pattern->component_count;
}

static bool live_after(const struct pattern *pattern, const bool *live, size_t i,
                       struct span name)
{
	const struct component *here = &pattern->components[i];

	if (i < pattern->component_count && here->kind == COMPONENT_DEEP && live[i])
		return true;
	return i > 0 && live[i - 1] && here[-1].kind != COMPONENT_DEEP &&
	       component_match(pattern, &here[-1], name);
}

bool pattern_may_match_beneath(const struct pattern *pattern, struct span folder)
{
	/* live[i]: the folder can be what components [0, i) stand for. */
	_cleanup_free_ bool *live = mem_alloc(pattern->component_count + 1, sizeof(*live));

	live[0] = true;
	for (size_t at = 0, next; folder.len > 0 && at <= folder.len; at = next) {
		struct span name = path_component(folder, at, &next);

		/* A deep component may stand for nothing ... */
		for (size_t i = 0; i < pattern->component_count; i++) {
			if (live[i] && pattern->components[i].kind == COMPONENT_DEEP)
				live[i + 1] = true;
		}
		/* ... or take the name and stay; others take it and are done. */
		for (size_t i = pattern->component_count + 1; i-- > 0;)
			live[i] = live_after(pattern, live, i, name);
	}
	for (size_t i = 0; i < pattern->component_count; i++) {
		if (live[i])
			return true;
	}
	return false;
}

size_t pattern_bracket_end(struct span text, size_t at)
{
	struct byte_set set;
	const char *reason;
	size_t after = bracket_parse(text, at, /* ignore_case= */ false, &set, &reason);

	return after == 0 ? text.len : after - 1;
}
