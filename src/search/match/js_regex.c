/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling and testing, in bounded time.
 *
 * Two gears, as in engine.h: plain code with a small limit on steps, for short texts; where that
 * does not suffice, code with a callout before every item, which looks at the clock.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "search/match/js_regex.h"

#include <pcre2.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/text.h"
#include "search/match/js_regex_translate.h"

enum {
	QUICK_BYTES = 4096,       /* longer texts go the careful way at once */
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

static pcre2_code *compile(const struct js_regex *regex, uint32_t more, struct err *err)
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
	    (!(options & JS_REGEX_LAZY) && !(regex->quick = compile(regex, 0, err)))) {
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
static const pcre2_code *code_of(const struct js_regex *shared, bool careful)
{
	struct js_regex *regex = (struct js_regex *)shared;
	pcre2_code **slot = careful ? &regex->careful : &regex->quick;
	struct err err = ERR_INIT;
	pcre2_code *code;

	pthread_mutex_lock(&regex->lock);
	if (!*slot && !regex->broken) {
		*slot = compile(regex, careful ? PCRE2_AUTO_CALLOUT : 0, &err);
		if (!*slot || !is_small(*slot))
			regex->broken = true;
	}
	code = regex->broken ? NULL : *slot;
	pthread_mutex_unlock(&regex->lock);
	return code;
}

struct deadline {
	struct timespec end;
	unsigned callouts;
};

static void deadline_init(struct deadline *deadline, size_t len)
{
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &deadline->end);
	deadline->end.tv_nsec += CAREFUL_MS * 1000000L + (long)len * CAREFUL_NS_BYTE;
	deadline->end.tv_sec += deadline->end.tv_nsec / 1000000000L;
	deadline->end.tv_nsec %= 1000000000L;
}

static int look(pcre2_callout_block *block, void *data)
{
	struct deadline *deadline = data;
	struct timespec now;

	(void)block;
	if (deadline->callouts++ % CALLOUTS_A_LOOK)
		return 0;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	if (now.tv_sec != deadline->end.tv_sec)
		return now.tv_sec > deadline->end.tv_sec ? PCRE2_ERROR_CALLOUT : 0;
	return now.tv_nsec > deadline->end.tv_nsec ? PCRE2_ERROR_CALLOUT : 0;
}

static int match(const pcre2_code *code, struct span subject, struct deadline *deadline)
{
	pcre2_match_data *data = pcre2_match_data_create(1, NULL);
	pcre2_match_context *context = pcre2_match_context_create(NULL);
	int result;

	if (!data || !context)
		abort();
	pcre2_set_heap_limit(context, HEAP_KIB);
	if (deadline)
		pcre2_set_callout(context, look, deadline);
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
	return result >= 0 ? JS_REGEX_YES : result == PCRE2_ERROR_NOMATCH ? JS_REGEX_NO : JS_REGEX_UNKNOWN;
}

enum js_regex_result js_regex_test(const struct js_regex *regex, struct span subject)
{
	enum js_regex_result outcome = JS_REGEX_UNKNOWN;
	struct deadline deadline = { .callouts = 0 };
	const pcre2_code *code;

	if (subject.len > SUBJECT_MAX)
		return JS_REGEX_UNKNOWN;
	if (subject.len <= QUICK_BYTES && (code = code_of(regex, /* careful= */ false)))
		outcome = outcome_of(match(code, subject, NULL));
	if (outcome != JS_REGEX_UNKNOWN || !(code = code_of(regex, /* careful= */ true)))
		return outcome;
	deadline_init(&deadline, subject.len);
	return outcome_of(match(code, subject, &deadline));
}
