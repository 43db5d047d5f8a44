/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling and testing, in bounded time.
 *
 * Two gears, as in engine.h: plain code with a small limit on steps, for short texts; where that
 * does not suffice, code with a callout before every item, which looks at the clock. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "search/match/js_regex.h"

#include <pcre2.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/text.h"

/* From ECMAScript's syntax of patterns (ECMA-262 section 22.2.1 and Annex B.1.2, no flags) to
 * PCRE2's.
 *
 * PCRE2_ALT_BSUX makes \u, \x and \U mean what they mean there; the rest is translated here:
 * escapes that only PCRE2 knows are the letter itself, \s and \v have other members, classes
 * have no [:names:], and groups, verbs and possessive quantifiers that JavaScript has not are
 * errors. */

/* White space and line ends of ECMAScript beyond what PCRE2's \s has. */
#define SPACES "\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"

enum { DEPTH_MAX = 100 };

struct translation {
	struct span text;
	size_t at;
	struct buf *out;
	struct err *err;
	/* For each open group: whether something in it repeats without end. */
	bool repeats[DEPTH_MAX + 1];
	unsigned depth;
	bool can_repeat;   /* a quantifier may follow what was read last */
	bool last_repeats; /* which was a group with an unbounded repetition in it */
	bool named;        /* there are named groups, so \k is a reference */
	bool bounded;      /* no unbounded repetition inside another */
};

static bool translation_refuse(struct translation *t, const char *what)
{
	return err_set(t->err, ERR_INVALID_ARGUMENT,
	               "The regular expression cannot be used: %s at character %zu.", what,
	               t->at + 1);
}

static char translation_peek(const struct translation *t, size_t ahead)
{
	return t->at + ahead < t->text.len ? t->text.data[t->at + ahead] : '\0';
}

static bool starts(const struct translation *t, const char *with)
{
	return span_starts(span_skip(t->text, t->at), span_str(with));
}

static void translation_copy(struct translation *t, size_t len)
{
	buf_append(t->out, t->text.data + t->at, len);
	t->at += len;
}

/* A backslash and what belongs to it. */
static bool escape(struct translation *t, bool in_class)
{
	char c = translation_peek(t, 1);

	if (t->at + 1 >= t->text.len)
		return translation_refuse(t, "a backslash at the end");
	if (c == 's' || c == 'S') {
		if (in_class && c == 'S')
			return translation_refuse(t, "\\S in a class is not supported");
		buf_printf(t->out, in_class ? "\\s" SPACES : c == 's' ? "[\\s" SPACES "]"
		                                                     : "[^\\s" SPACES "]");
		t->at += 2;
	} else if (c == 'v') {
		buf_str(t->out, "\\x0b");
		t->at += 2;
	} else if (strchr("dDwWbBfnrtxu0123456789c", c) || (c == 'k' && t->named)) {
		translation_copy(t, 2);
	} else if (ascii_is_letter(c)) {
		t->at++;
		translation_copy(t, 1);
	} else if ((unsigned char)c >= 0x80) {
		t->at++;
	} else {
		translation_copy(t, 2);
	}
	return true;
}

static bool class(struct translation *t)
{
	translation_copy(t, 1);
	if (translation_peek(t, 0) == '^')
		translation_copy(t, 1);
	while (t->at < t->text.len && translation_peek(t, 0) != ']') {
		if (translation_peek(t, 0) == '\\') {
			if (!escape(t, /* in_class= */ true))
				return false;
		} else if (translation_peek(t, 0) == '[') {
			buf_str(t->out, "\\[");
			t->at++;
		} else {
			translation_copy(t, 1);
		}
	}
	if (t->at >= t->text.len)
		return translation_refuse(t, "a class without an end");
	translation_copy(t, 1);
	return true;
}

static bool open_group(struct translation *t)
{
	static const char *const kinds[] = { "(?:", "(?=", "(?!", "(?<=", "(?<!" };
	size_t len = 1;

	if (t->depth == DEPTH_MAX)
		return translation_refuse(t, "too many groups inside each other");
	if (translation_peek(t, 1) == '*')
		return translation_refuse(t, "nothing to repeat");
	if (translation_peek(t, 1) == '?') {
		for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
			if (starts(t, kinds[i]))
				len = strlen(kinds[i]);
		if (len == 1 && starts(t, "(?<"))
			len = 3;
		if (len == 1)
			return translation_refuse(t, "a group of an unknown kind");
	}
	translation_copy(t, len);
	t->repeats[++t->depth] = false;
	t->can_repeat = false;
	return true;
}

static bool close_group(struct translation *t)
{
	if (t->depth == 0)
		return translation_refuse(t, "a group that was not opened");
	translation_copy(t, 1);
	t->last_repeats = t->repeats[t->depth--];
	t->repeats[t->depth] |= t->last_repeats;
	t->can_repeat = true;
	return true;
}

/* The length of {n}, {n,} or {n,m} here; 0: none, the brace is itself. *ret_open: may repeat
 * often. */
static size_t braces(const struct translation *t, bool *ret_open)
{
	size_t len = 1, digits = 0;
	bool comma = false, after = false;

	for (; translation_peek(t, len) != '}'; len++) {
		char c = translation_peek(t, len);

		if (c == ',' && !comma && digits)
			comma = true;
		else if (c < '0' || c > '9')
			return 0;
		else if (comma)
			after = true;
		else
			digits++;
	}
	*ret_open = comma && (!after || len > 5);
	return digits ? len + 1 : 0;
}

/* A quantifier is here, `len` bytes long. */
static bool quantifier(struct translation *t, size_t len, bool open)
{
	if (!t->can_repeat)
		return translation_refuse(t, "nothing to repeat");
	if (t->bounded && open && t->last_repeats)
		return translation_refuse(t, "a repetition inside a repetition, which can take "
		                          "for ever,");
	translation_copy(t, len);
	if (translation_peek(t, 0) == '?')
		translation_copy(t, 1);
	else if (translation_peek(t, 0) == '+')
		return translation_refuse(t, "nothing to repeat");
	t->repeats[t->depth] |= open;
	t->can_repeat = t->last_repeats = false;
	return true;
}

static bool one(struct translation *t)
{
	char c = translation_peek(t, 0);
	bool open = c == '*' || c == '+', is_atom = true;
	size_t len = open || c == '?' ? 1 : 0;

	if (c == '{')
		len = braces(t, &open);
	if (len)
		return quantifier(t, len, open);
	if (c == '(')
		return open_group(t);
	if (c == ')')
		return close_group(t);
	t->last_repeats = false;
	if (c == '\\') {
		if (!escape(t, /* in_class= */ false))
			return false;
	} else if (c == '[') {
		if (!class(t))
			return false;
	} else if (c == '{' || c == '}' || c == ']') {
		buf_printf(t->out, "\\%c", c);
		t->at++;
	} else {
		is_atom = !strchr("^$|", c) || c == '\0';
		translation_copy(t, 1);
	}
	t->can_repeat = is_atom;
	return true;
}

static bool has_named_groups(struct span pattern)
{
	for (size_t i = 0; i + 3 < pattern.len; i++)
		if (memcmp(pattern.data + i, "(?<", 3) == 0 && pattern.data[i + 3] != '=' &&
		    pattern.data[i + 3] != '!')
			return true;
	return false;
}

/* Appends the pattern as PCRE2 reads it with the options below. INVALID_ARGUMENT: what
 * JavaScript would refuse; `bounded`: an unbounded repetition inside another. */
static bool js_regex_translate(struct span pattern, bool bounded, struct buf *out, struct err *err)
{
	struct translation t = {
		.text = pattern, .out = out, .err = err, .named = has_named_groups(pattern),
		.bounded = bounded,
	};

	while (t.at < pattern.len)
		if (!one(&t))
			return false;
	return t.depth == 0 || translation_refuse(&t, "a group without an end");
}

/* ---- compiling and testing, in bounded time ---- */

enum {
	QUICK_BYTES = 4096,       /* longer texts go straight to the careful way */
	QUICK_STEPS = 2000,       /* at each starting position */
	CAREFUL_MS = 100,         /* of CPU time, for one text */
	CAREFUL_NS_BYTE = 50,     /* and for each byte of it */
	CALLOUTS_A_LOOK = 64,     /* between two looks at the clock */
	HEAP_KIB = 8 << 10,
	CODE_BYTES_MAX = 1 << 20,
};
#define SUBJECT_MAX ((size_t)64 << 20)

struct js_regex {
	char *pattern;
	struct buf translated;
	pthread_mutex_t lock; /* of what is compiled lazily */
	pcre2_code *quick, *careful;
	bool broken;          /* PCRE2 refuses it */
};

static pcre2_code *js_regex_compile_code(const struct js_regex *regex, uint32_t more,
                                         struct err *err)
{
	const uint32_t options = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_ALT_BSUX |
	                         PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_UNSET_BACKREF |
	                         PCRE2_ALLOW_EMPTY_CLASS | PCRE2_NEVER_BACKSLASH_C | more;
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	PCRE2_UCHAR reason[200];
	PCRE2_SIZE at = 0;
	pcre2_code *code;
	int number = 0;

	if (!context)
		abort();
	pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF);
	pcre2_set_max_pattern_length(context, (size_t)JS_REGEX_BYTES_MAX * 64);
	code = pcre2_compile((PCRE2_SPTR)(regex->translated.data ? regex->translated.data : ""),
	                     regex->translated.len, options, &number, &at, context);
	pcre2_compile_context_free(context);
	if (!code) {
		pcre2_get_error_message(number, reason, sizeof(reason));
		err_set(err, ERR_INVALID_ARGUMENT, "The regular expression cannot be used: %s.",
		        (const char *)reason);
	}
	return code;
}

static bool is_small(const pcre2_code *code)
{
	size_t size = 0;

	return pcre2_pattern_info(code, PCRE2_INFO_SIZE, &size) == 0 && size <= CODE_BYTES_MAX;
}

bool js_regex_compile_with(struct span pattern, unsigned options, struct js_regex **ret,
                           struct err *err)
{
	struct js_regex *regex;

	if (pattern.len > JS_REGEX_BYTES_MAX)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The regular expression is longer than %d bytes.",
		               JS_REGEX_BYTES_MAX);
	if (!utf8_valid(pattern) || (pattern.len && memchr(pattern.data, '\0', pattern.len)))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The regular expression is not text in UTF-8.");
	regex = mem_alloc(1, sizeof(*regex));
	regex->translated.max = (size_t)JS_REGEX_BYTES_MAX * 64;
	regex->pattern = mem_dup(pattern.data ? pattern.data : "", pattern.len);
	pthread_mutex_init(&regex->lock, NULL);
	if (!js_regex_translate(pattern, options & JS_REGEX_BOUNDED, &regex->translated, err) ||
	    (!(options & JS_REGEX_LAZY) &&
	     !(regex->quick = js_regex_compile_code(regex, 0, err)))) {
		js_regex_free(regex);
		return false;
	}
	*ret = regex;
	return true;
}

bool js_regex_compile(struct span pattern, struct js_regex **ret, struct err *err)
{
	return js_regex_compile_with(pattern, 0, ret, err);
}

void js_regex_free(struct js_regex *regex)
{
	if (!regex)
		return;
	pcre2_code_free(regex->quick);
	pcre2_code_free(regex->careful);
	pthread_mutex_destroy(&regex->lock);
	buf_release(&regex->translated);
	free(regex->pattern);
	free(regex);
}

const char *js_regex_pattern(const struct js_regex *regex)
{
	return regex->pattern;
}

/* What is compiled lazily is no change that anybody sees. */
static const pcre2_code *js_regex_code(const struct js_regex *shared, bool careful)
{
	struct js_regex *regex = (struct js_regex *)shared;
	pcre2_code **slot = careful ? &regex->careful : &regex->quick;
	struct err err = ERR_INIT;
	pcre2_code *code;

	pthread_mutex_lock(&regex->lock);
	if (!*slot && !regex->broken) {
		*slot = js_regex_compile_code(regex, careful ? PCRE2_AUTO_CALLOUT : 0, &err);
		if (!*slot || !is_small(*slot))
			regex->broken = true;
	}
	code = regex->broken ? NULL : *slot;
	pthread_mutex_unlock(&regex->lock);
	return code;
}

struct js_deadline {
	struct timespec end;
	unsigned callouts;
};

static void deadline_init(struct js_deadline *deadline, size_t len)
{
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &deadline->end);
	deadline->end.tv_nsec += CAREFUL_MS * 1000000L + (long)len * CAREFUL_NS_BYTE;
	deadline->end.tv_sec += deadline->end.tv_nsec / 1000000000L;
	deadline->end.tv_nsec %= 1000000000L;
}

static int js_regex_check_deadline(pcre2_callout_block *block, void *data)
{
	struct js_deadline *deadline = data;
	struct timespec now;

	(void)block;
	if (deadline->callouts++ % CALLOUTS_A_LOOK)
		return 0;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	if (now.tv_sec != deadline->end.tv_sec)
		return now.tv_sec > deadline->end.tv_sec ? PCRE2_ERROR_CALLOUT : 0;
	return now.tv_nsec > deadline->end.tv_nsec ? PCRE2_ERROR_CALLOUT : 0;
}

static int match(const pcre2_code *code, struct span subject, struct js_deadline *deadline)
{
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	pcre2_match_context *context = pcre2_match_context_create(NULL);
	int result;

	if (!data || !context)
		abort();
	pcre2_set_heap_limit(context, HEAP_KIB);
	if (deadline)
		pcre2_set_callout(context, js_regex_check_deadline, deadline);
	else
		pcre2_set_match_limit(context, QUICK_STEPS);
	result = pcre2_match(code, (PCRE2_SPTR)(subject.data ? subject.data : ""), subject.len, 0,
	                     0, data, context);
	pcre2_match_data_free(data);
	pcre2_match_context_free(context);
	return result;
}

static enum js_regex_result outcome_of(int result)
{
	return result >= 0 ? JS_REGEX_YES : result == PCRE2_ERROR_NOMATCH ? JS_REGEX_NO :
	       JS_REGEX_UNKNOWN;
}

enum js_regex_result js_regex_test(const struct js_regex *regex, struct span subject)
{
	enum js_regex_result outcome = JS_REGEX_UNKNOWN;
	struct js_deadline deadline = { .callouts = 0 };
	const pcre2_code *code;

	if (subject.len > SUBJECT_MAX)
		return JS_REGEX_UNKNOWN;
	if (subject.len <= QUICK_BYTES && (code = js_regex_code(regex, /* careful= */ false)))
		outcome = outcome_of(match(code, subject, NULL));
	if (outcome != JS_REGEX_UNKNOWN || !(code = js_regex_code(regex, /* careful= */ true)))
		return outcome;
	deadline_init(&deadline, subject.len);
	return outcome_of(match(code, subject, &deadline));
}
