/* SPDX-License-Identifier: Apache-2.0 */
/* Glob patterns: braces are multiplied out first, each alternative is then a
 * separate pattern (pattern.h). */
#include "search/rules/glob.h"

#include "base/limits.h"
#include "base/mem.h"
#include "search/rules/pattern.h"

#define ALTERNATIVES_MAX 1024
/* Bytes written while multiplying out: many braces of one alternative each would
 * otherwise cost much without giving many. */
#define EXPANSION_MAX ((size_t)8 << 20)

struct alternative {
	struct pattern *pattern; /* owned */
	bool basename;           /* fits the last component, at any depth */
};

struct glob {
	struct alternative *alternatives; /* owned */
	size_t count, cap;
};

/* Texts still to be multiplied out. */
struct brace_expansion {
	char **texts; /* owned */
	size_t count, cap;
	size_t written;
};

static void expansion_release(struct brace_expansion *expansion)
{
	while (expansion->count > 0)
		free(expansion->texts[--expansion->count]);
	free(expansion->texts);
}

static bool expansion_push(struct brace_expansion *expansion, struct span head, struct span middle,
                           struct span tail, struct err *err)
{
	struct span parts[] = { head, middle, tail };
	size_t len = head.len + middle.len + tail.len, at = 0;
	char *text;

	expansion->written += len + 1;
	if (expansion->written > EXPANSION_MAX)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The glob's braces have too many alternatives.");
	text = mem_alloc(len + 1, 1);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		if (parts[i].len > 0)
			memcpy(text + at, parts[i].data, parts[i].len);
		at += parts[i].len;
	}
	if (expansion->count == expansion->cap)
		expansion->texts = mem_grow(expansion->texts, &expansion->cap,
		                            expansion->count + 1, sizeof(*expansion->texts));
	expansion->texts[expansion->count++] = text;
	return true;
}

/* The index after what begins at `at`: an escaped character, a bracket
 * expression, or one byte. */
static size_t skip_one(struct span text, size_t at)
{
	if (text.data[at] == '\\')
		return at + 2 < text.len ? at + 2 : text.len;
	if (text.data[at] == '[') {
		size_t end = pattern_bracket_end(text, at);

		return end < text.len ? end + 1 : at + 1;
	}
	return at + 1;
}

/* The index of the first '{' that is not escaped; text.len when there is none. */
static size_t find_brace(struct span text)
{
	size_t at = 0;

	while (at < text.len && text.data[at] != '{')
		at = skip_one(text, at);
	return at < text.len ? at : text.len;
}

/* Pushes one text for each alternative of the brace at text[open]. */
static bool expand_brace(struct brace_expansion *expansion, struct span text, size_t open,
                         struct err *err)
{
	struct span head = span_head(text, open), tail;
	size_t depth = 0, close = open, from = open + 1;

	for (; close < text.len; close = skip_one(text, close)) {
		if (text.data[close] == '{')
			depth++;
		else if (text.data[close] == '}' && --depth == 0)
			break;
	}
	if (close >= text.len)
		return err_set(err, ERR_INVALID_ARGUMENT, "The glob has a '{' without its '}'.");
	tail = span_skip(text, close + 1);
	for (size_t at = open + 1; at <= close; at = skip_one(text, at)) {
		char c = text.data[at];

		if (depth == 0 && (c == ',' || at == close)) {
			if (!expansion_push(expansion, head,
			                    span_of(text.data + from, at - from), tail, err))
				return false;
			from = at + 1;
		} else if (c == '{') {
			depth++;
		} else if (c == '}') {
			depth--;
		}
	}
	return true;
}

static bool glob_add(struct glob *glob, struct span text, unsigned flags, struct err *err)
{
	bool basename = (flags & GLOB_BASENAME) && !memchr(text.data, '/', text.len);
	struct pattern *pattern;
	const char *reason;

	if (glob->count == ALTERNATIVES_MAX)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The glob has more than %d alternatives.", ALTERNATIVES_MAX);
	while (span_starts(text, SPAN("./")))
		text = span_skip(text, 2);
	if (span_starts(text, SPAN("/")))
		text = span_skip(text, 1);
	pattern = pattern_compile(text, (flags & GLOB_IGNORE_CASE) != 0, &reason);
	if (!pattern)
		return err_set(err, ERR_INVALID_ARGUMENT, "The glob has %s.", reason);
	if (glob->count == glob->cap)
		glob->alternatives = mem_grow(glob->alternatives, &glob->cap, glob->count + 1,
		                              sizeof(*glob->alternatives));
	glob->alternatives[glob->count++] = (struct alternative){ pattern, basename };
	return true;
}

bool glob_compile(struct span pattern, unsigned flags, struct glob **ret, struct err *err)
{
	struct brace_expansion expansion = { 0 };
	struct glob *glob;
	bool good;

	/* Rejects open brackets before anything is multiplied out, so that finding the end of
	 * each is linear in every text that comes of it. */
	if (pattern.len == 0 || pattern.len > LIMIT_PATH_BYTES)
		return err_set(err, ERR_INVALID_ARGUMENT, "A glob has 1 to %d bytes.",
		               LIMIT_PATH_BYTES);
	if (memchr(pattern.data, '\0', pattern.len))
		return err_set(err, ERR_INVALID_ARGUMENT, "A glob has no NUL bytes.");
	for (size_t at = 0; at < pattern.len; at = skip_one(pattern, at)) {
		if (pattern.data[at] == '[' && pattern_bracket_end(pattern, at) == pattern.len)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "The glob has a '[' without its ']', or an unknown "
			               "[:class:].");
	}
	glob = mem_alloc(1, sizeof(*glob));
	good = expansion_push(&expansion, pattern, SPAN(""), SPAN(""), err);
	while (good && expansion.count > 0) {
		_cleanup_free_ char *owned = expansion.texts[--expansion.count];
		struct span text = span_str(owned);
		size_t open = find_brace(text);

		good = open < text.len ? expand_brace(&expansion, text, open, err)
		                       : glob_add(glob, text, flags, err);
	}
	expansion_release(&expansion);
	if (!good) {
		glob_free(glob);
		return false;
	}
	*ret = glob;
	return true;
}

void glob_free(struct glob *glob)
{
	if (!glob)
		return;
	for (size_t i = 0; i < glob->count; i++)
		pattern_free(glob->alternatives[i].pattern);
	free(glob->alternatives);
	free(glob);
}

bool glob_match(const struct glob *glob, struct span path)
{
	const char *slash = path.len > 0 ? memrchr(path.data, '/', path.len) : NULL;
	struct span name = slash ? span_skip(path, (size_t)(slash - path.data) + 1) : path;

	for (size_t i = 0; i < glob->count; i++) {
		const struct alternative *alternative = &glob->alternatives[i];

		if (pattern_match(alternative->pattern, alternative->basename ? name : path))
			return true;
	}
	return false;
}

bool glob_may_match_beneath(const struct glob *glob, struct span path)
{
	for (size_t i = 0; i < glob->count; i++) {
		const struct alternative *alternative = &glob->alternatives[i];

		if (alternative->basename ||
		    pattern_may_match_beneath(alternative->pattern, path))
			return true;
	}
	return false;
}

bool glob_has_magic(struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == '\\')
			i++;
		else if (memchr("*?[{", text.data[i], 4))
			return true;
	}
	return false;
}

/* ---- several globs ---- */

bool glob_list_add(struct glob_list *list, const char *const *texts, size_t count,
                   unsigned flags, bool whole_folders, struct err *err)
{
	size_t cap = list->count;

	if (count == 0)
		return true;
	list->globs = mem_grow(list->globs, &cap, list->count + count, sizeof(struct glob *));
	for (size_t i = 0; i < count; i++) {
		struct span text = span_str(texts[i]);
		struct err inner = ERR_INIT;

		if (whole_folders && text.len > 3 && span_ends(text, SPAN("/**")))
			text.len -= 3;
		if (!glob_compile(text, flags, &list->globs[list->count], &inner)) {
			/* The reader may have given many: says which one is wrong. */
			const size_t len = strlen(inner.message);

			return err_set(err, inner.code, "%.*s: \"%.200s\".", len ? (int)len - 1 : 0,
			               inner.message, texts[i]);
		}
		list->count++;
	}
	return true;
}

void glob_list_release(struct glob_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		glob_free(list->globs[i]);
	free(list->globs);
	*list = (struct glob_list){ 0 };
}

bool glob_list_match(const struct glob_list *list, struct span path)
{
	for (size_t i = 0; i < list->count; i++)
		if (glob_match(list->globs[i], path))
			return true;
	return false;
}

bool glob_list_may_match_beneath(const struct glob_list *list, struct span path)
{
	for (size_t i = 0; i < list->count; i++)
		if (glob_may_match_beneath(list->globs[i], path))
			return true;
	return false;
}
