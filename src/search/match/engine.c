/* SPDX-License-Identifier: Apache-2.0 */
/* PCRE2 with bounds. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "search/match/engine.h"

#include <pcre2.h>
#include <stdint.h>
#include <time.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"

/* The compiled form is at most 64 Ki units; compiling it to machine code needs more. */
#define COMPILE_BYTES_MAX ((size_t)64 << 20)
/* Frames of the interpreter, where there is no JIT. */
#define MATCH_BYTES_MAX ((size_t)64 << 20)
#define JIT_STACK_BYTES_MIN ((size_t)64 << 10)
#define JIT_STACK_BYTES_MAX ((size_t)8 << 20)
/* Steps × starts × length of the quick gear: a tenth of a second at worst. */
#define QUICK_WORK 200000000u
/* With fewer steps the quick gear hardly ever ends. */
#define QUICK_STEPS_MIN 16u
#define QUICK_STEPS_MAX 1000000u
#define CAREFUL_STEPS_MAX 100000000u
/* What searching may take before it counts against the reserve, and the reserve. */
#define ALLOWANCE_NS_PER_BYTE 50
#define ALLOWANCE_NS 10000
#define RESERVE_NS 400000000
/* What each text has of it in any case, so that hard ones do not make all later ones too hard. */
#define RESERVE_LEAST_NS 1000000
/* Callouts between two looks at a clock, in units of work: each costs 1 for itself and 1 for
 * every so many bytes that an item can run over. */
#define CALLOUT_WORK 2048u
#define CALLOUT_BYTES_PER_WORK 8192u
/* Searches that are timed after one that took long. */
#define TIMED_SEARCHES 16

struct engine_memory {
	size_t used, max;
};

/* In front of each block; keeps what follows aligned for everything. */
union block_head {
	size_t size;
	max_align_t align;
};

struct engine {
	struct engine_memory memory;
	pcre2_general_context *general;
	pcre2_code *code;
	pcre2_code *ascii_code; /* NULL: there is none */
	bool jit;               /* code is machine code; ascii_code always is */
	struct buf pattern;     /* the text as it was compiled, for the careful gear */
	uint32_t options;
	uint32_t extra;
	bool any_line_end;
};

struct engine_scratch {
	struct engine_memory memory;
	pcre2_general_context *general;
	pcre2_match_context *quick, *careful;
	pcre2_match_data *data;
	pcre2_jit_stack *stack;
	const struct engine *careful_of; /* whose code careful_code is */
	pcre2_code *careful_code;
	bool careful_jit;
	unsigned timed; /* searches that are still to be timed exactly */
	int64_t reserve_ns;
	int64_t text_ns; /* what the text at hand may take of it */
	/* Of the search that runs. */
	int64_t tick;         /* of the coarse clock, when it was last looked at */
	int64_t cpu_start_ns; /* of the thread's CPU clock; 0: it was not looked at */
	int64_t budget_ns;
	unsigned work, work_per_callout;
};

static void *memory_get(size_t size, void *data)
{
	struct engine_memory *memory = data;
	union block_head *head;

	if (size > memory->max - memory->used)
		return NULL;
	head = malloc(sizeof(*head) + size);
	if (!head)
		return NULL;
	head->size = size;
	memory->used += size;
	return head + 1;
}

static void memory_put(void *block, void *data)
{
	struct engine_memory *memory = data;
	union block_head *head = block;

	if (!block)
		return;
	head--;
	memory->used -= head->size;
	free(head);
}

static pcre2_general_context *context_new(struct engine_memory *memory, size_t max)
{
	pcre2_general_context *context;

	memory->max = max;
	context = pcre2_general_context_create(memory_get, memory_put, memory);
	if (!context)
		abort();
	return context;
}

/* ---- compiling ---- */

static bool compile_failed(int code, size_t at, size_t wrapped, struct err *err)
{
	char reason[256] = "";

	pcre2_get_error_message(code, (PCRE2_UCHAR *)reason, sizeof(reason));
	return err_set(err, ERR_INVALID_ARGUMENT, "The pattern is wrong at byte %zu: %s.",
	               at > wrapped ? at - wrapped : 0, reason);
}

static pcre2_code *compile_text(pcre2_general_context *general, const struct engine *engine,
                                struct span text, uint32_t options, int *ret_code,
                                size_t *ret_at)
{
	pcre2_compile_context *context = pcre2_compile_context_create(general);
	pcre2_code *code = NULL;

	*ret_code = PCRE2_ERROR_NOMEMORY;
	*ret_at = 0;
	if (!context)
		return NULL;
	pcre2_set_newline(context, engine->any_line_end ? PCRE2_NEWLINE_ANYCRLF : PCRE2_NEWLINE_LF);
	pcre2_set_compile_extra_options(context, engine->extra);
	code = pcre2_compile((PCRE2_SPTR)text.data, text.len, options, ret_code, ret_at,
	                     context);
	pcre2_compile_context_free(context);
	return code;
}

/* The pattern between look-arounds.  It may end in an open quotation (\Q) or, with (?x), in a
 * comment: two ways to end either are tried. */
static bool compile_word(struct engine *engine, struct span pattern, struct err *err)
{
	static const char *const ends[] = { "\\E)(?!\\w)", "\n)(?!\\w)" };
	struct span start = SPAN("(?<!\\w)(?:");
	int code = 0;
	size_t at = 0;

	for (size_t i = 0; i < ARRAY_LEN(ends) && !engine->code; i++) {
		buf_clear(&engine->pattern);
		buf_span(&engine->pattern, start);
		buf_span(&engine->pattern, pattern);
		buf_str(&engine->pattern, ends[i]);
		engine->code = compile_text(engine->general, engine, buf_view(&engine->pattern),
		                            engine->options, &code, &at);
	}
	return engine->code ? true : compile_failed(code, at, start.len, err);
}

static bool engine_compile_pattern(struct engine *engine, const struct engine_options *options,
                                   struct err *err)
{
	int code = 0;
	size_t at = 0;

	buf_span(&engine->pattern, options->pattern);
	engine->code = compile_text(engine->general, engine, options->pattern, engine->options,
	                            &code, &at);
	if (!engine->code)
		return compile_failed(code, at, 0, err);
	if (options->whole_word && !options->whole_line) {
		pcre2_code_free(engine->code);
		engine->code = NULL;
		return compile_word(engine, options->pattern, err);
	}
	return true;
}

/* Without Unicode, which makes no difference in ASCII text, sets and word ends are several
 * times as fast. */
static void compile_ascii(struct engine *engine)
{
	uint32_t unicode = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF;
	int code;
	size_t at;

	engine->ascii_code = compile_text(engine->general, engine, buf_view(&engine->pattern),
	                                  engine->options & ~unicode, &code, &at);
	if (engine->ascii_code && pcre2_jit_compile(engine->ascii_code, PCRE2_JIT_COMPLETE) != 0) {
		pcre2_code_free(engine->ascii_code);
		engine->ascii_code = NULL;
	}
}

bool engine_compile(const struct engine_options *options, struct engine **ret, struct err *err)
{
	struct engine *engine = mem_alloc(1, sizeof(*engine));

	engine->general = context_new(&engine->memory, COMPILE_BYTES_MAX);
	engine->pattern = (struct buf)BUF_INIT(2 * LIMIT_PATTERN_BYTES + 64);
	engine->options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_MULTILINE |
	                  PCRE2_ALT_CIRCUMFLEX | PCRE2_NEVER_BACKSLASH_C |
	                  (options->ignore_case ? PCRE2_CASELESS : 0);
	engine->extra = options->whole_line ? PCRE2_EXTRA_MATCH_LINE : 0;
	engine->any_line_end = options->any_line_end;
	if (!engine_compile_pattern(engine, options, err)) {
		engine_free(engine);
		return false;
	}
	/* Where there is no JIT, or no memory for it, the interpreter does the work. */
	if (!options->no_jit)
		engine->jit = pcre2_jit_compile(engine->code, PCRE2_JIT_COMPLETE) == 0;
	if (engine->jit && options->ascii_too)
		compile_ascii(engine);
	*ret = engine;
	return true;
}

void engine_free(struct engine *engine)
{
	if (!engine)
		return;
	pcre2_code_free(engine->code);
	pcre2_code_free(engine->ascii_code);
	pcre2_general_context_free(engine->general);
	buf_release(&engine->pattern);
	free(engine);
}

/* ---- time ---- */

static int64_t engine_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Most searches are not timed: the thread's CPU clock, which is a system call, is only read after
 * a tick of a coarse clock, which costs next to nothing. */
static bool ticked(struct engine_scratch *scratch)
{
	int64_t tick = engine_clock_ns(CLOCK_MONOTONIC_COARSE);
	bool changed = tick != scratch->tick;

	scratch->tick = tick;
	return changed;
}

static void timer_start(struct engine_scratch *scratch, size_t bytes)
{
	(void)ticked(scratch);
	scratch->cpu_start_ns = scratch->timed ? engine_clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
	scratch->budget_ns =
		scratch->text_ns + ALLOWANCE_NS + (int64_t)bytes * ALLOWANCE_NS_PER_BYTE;
	scratch->work = 0;
}

/* The search got `bytes` far. What it took too long is taken from the reserve. */
static void timer_stop(struct engine_scratch *scratch, size_t bytes)
{
	int64_t ns = 0;

	scratch->timed -= scratch->timed > 0;
	if (scratch->cpu_start_ns)
		ns = engine_clock_ns(CLOCK_THREAD_CPUTIME_ID) - scratch->cpu_start_ns -
		     ALLOWANCE_NS - (int64_t)bytes * ALLOWANCE_NS_PER_BYTE;
	if (ns > 0) {
		scratch->reserve_ns -= ns;
		scratch->text_ns -= ns;
	}
	if (ns > 0 || (!scratch->timed && ticked(scratch)))
		scratch->timed = TIMED_SEARCHES;
}

static int callout(pcre2_callout_block *block, void *data)
{
	struct engine_scratch *scratch = data;
	int64_t now;

	(void)block;
	scratch->work += scratch->work_per_callout;
	if (scratch->work < CALLOUT_WORK)
		return 0;
	scratch->work = 0;
	if (!ticked(scratch))
		return 0;
	now = engine_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (!scratch->cpu_start_ns)
		scratch->cpu_start_ns = now;
	return now - scratch->cpu_start_ns > scratch->budget_ns ? PCRE2_ERROR_CALLOUT : 0;
}

/* ---- matching ---- */

void engine_new_text(struct engine_scratch *scratch)
{
	const int64_t half = scratch->reserve_ns / 2;

	scratch->text_ns = half > RESERVE_LEAST_NS ? half : RESERVE_LEAST_NS;
}

struct engine_scratch *engine_scratch_new(void)
{
	struct engine_scratch *scratch = mem_alloc(1, sizeof(*scratch));

	scratch->general = context_new(&scratch->memory, COMPILE_BYTES_MAX + MATCH_BYTES_MAX);
	scratch->quick = pcre2_match_context_create(scratch->general);
	scratch->careful = pcre2_match_context_create(scratch->general);
	scratch->data = pcre2_match_data_create(1, scratch->general);
	if (!scratch->quick || !scratch->careful || !scratch->data)
		abort();
	scratch->stack = pcre2_jit_stack_create(JIT_STACK_BYTES_MIN, JIT_STACK_BYTES_MAX,
	                                        scratch->general);
	if (scratch->stack) {
		pcre2_jit_stack_assign(scratch->quick, NULL, scratch->stack);
		pcre2_jit_stack_assign(scratch->careful, NULL, scratch->stack);
	}
	/* In KiB; and there are two of them while one grows. */
	pcre2_set_heap_limit(scratch->quick, MATCH_BYTES_MAX >> 11);
	pcre2_set_heap_limit(scratch->careful, MATCH_BYTES_MAX >> 11);
	pcre2_set_match_limit(scratch->careful, CAREFUL_STEPS_MAX);
	pcre2_set_callout(scratch->careful, callout, scratch);
	scratch->reserve_ns = RESERVE_NS;
	engine_new_text(scratch);
	return scratch;
}

void engine_scratch_free(struct engine_scratch *scratch)
{
	if (!scratch)
		return;
	pcre2_code_free(scratch->careful_code);
	pcre2_jit_stack_free(scratch->stack);
	pcre2_match_data_free(scratch->data);
	pcre2_match_context_free(scratch->careful);
	pcre2_match_context_free(scratch->quick);
	pcre2_general_context_free(scratch->general);
	free(scratch);
}

static enum match_outcome engine_run_code(const pcre2_code *code, bool jit,
                                          struct engine_scratch *scratch,
                                          pcre2_match_context *context, struct span subject,
                                          size_t from, struct text_match *ret)
{
	PCRE2_SPTR data = (PCRE2_SPTR)(subject.data ? subject.data : "");
	int result = jit ? pcre2_jit_match(code, data, subject.len, from, 0, scratch->data, context)
	                 : pcre2_match(code, data, subject.len, from, 0, scratch->data, context);
	const PCRE2_SIZE *offsets = pcre2_get_ovector_pointer(scratch->data);

	if (result == PCRE2_ERROR_NOMATCH)
		return MATCH_NONE;
	if (result < 0 || offsets[1] < offsets[0])
		return MATCH_TOO_HARD;
	*ret = (struct text_match){ offsets[0], offsets[1] };
	return MATCH_FOUND;
}

/* Subjects that are valid where a match is tried begin with the first byte of a character. */
static size_t character_start(struct span subject, size_t from)
{
	while (from < subject.len && ((unsigned char)subject.data[from] & 0xc0) == 0x80)
		from++;
	return from;
}

/* How many bytes a search got over. */
static size_t covered(enum match_outcome outcome, size_t from, struct span subject,
                      const struct text_match *match)
{
	if (outcome != MATCH_FOUND)
		return subject.len - from;
	return match->end > from ? match->end - from : 0;
}

static bool has_code_for(struct engine_scratch *scratch, const struct engine *engine)
{
	int code;
	size_t at;

	if (scratch->careful_of == engine)
		return scratch->careful_code != NULL;
	pcre2_code_free(scratch->careful_code);
	scratch->careful_of = engine;
	scratch->careful_code = compile_text(scratch->general, engine, buf_view(&engine->pattern),
	                                     engine->options | PCRE2_AUTO_CALLOUT, &code, &at);
	scratch->careful_jit = scratch->careful_code &&
	                       pcre2_jit_compile(scratch->careful_code, PCRE2_JIT_COMPLETE) == 0;
	return scratch->careful_code != NULL;
}

static enum match_outcome find_careful(const struct engine *engine,
                                       struct engine_scratch *scratch, struct span subject,
                                       size_t from, struct text_match *ret)
{
	enum match_outcome outcome;

	if (!has_code_for(scratch, engine))
		return MATCH_TOO_HARD;
	timer_start(scratch, subject.len - from);
	scratch->work_per_callout = (unsigned)(1 + subject.len / CALLOUT_BYTES_PER_WORK);
	outcome = engine_run_code(scratch->careful_code, scratch->careful_jit, scratch,
	                          scratch->careful,
	                          subject, from, ret);
	timer_stop(scratch, covered(outcome, from, subject, ret));
	return outcome;
}

/* What the quick gear is to do. */
struct quick {
	const pcre2_code *code;
	bool jit;
	struct span subject;
	size_t from;
	size_t longest; /* line */
};

static enum match_outcome find_quick(const struct quick *quick, struct engine_scratch *scratch,
                                     struct text_match *ret)
{
	size_t starts = quick->subject.len - quick->from + 1;
	size_t work = starts > QUICK_WORK || quick->longest > QUICK_WORK
	                      ? SIZE_MAX
	                      : starts * (quick->longest + 1);
	size_t steps = QUICK_WORK / work;
	enum match_outcome outcome;

	if (scratch->text_ns <= 0 || steps < QUICK_STEPS_MIN)
		return MATCH_TOO_HARD;
	timer_start(scratch, starts);
	pcre2_set_match_limit(scratch->quick,
	                      (uint32_t)(steps < QUICK_STEPS_MAX ? steps : QUICK_STEPS_MAX));
	outcome = engine_run_code(quick->code, quick->jit, scratch, scratch->quick, quick->subject,
	                          quick->from,
	                          ret);
	timer_stop(scratch, covered(outcome, quick->from, quick->subject, ret));
	return outcome;
}

enum match_outcome engine_find_quick(const struct engine *engine,
                                     struct engine_scratch *scratch, struct span subject,
                                     size_t from, const struct survey *survey,
                                     struct text_match *ret)
{
	bool ascii = survey->ascii && engine->ascii_code;
	struct quick quick = { .code = ascii ? engine->ascii_code : engine->code,
		               .jit = ascii || engine->jit,
		               .subject = subject,
		               .from = character_start(subject, from),
		               .longest = survey->longest };

	return find_quick(&quick, scratch, ret);
}

enum match_outcome engine_find(const struct engine *engine, struct engine_scratch *scratch,
                               struct span subject, size_t from, struct text_match *ret)
{
	struct quick quick = { .code = engine->code,
		               .jit = engine->jit,
		               .subject = subject,
		               .from = character_start(subject, from),
		               .longest = subject.len };
	enum match_outcome outcome = find_quick(&quick, scratch, ret);

	if (outcome != MATCH_TOO_HARD || scratch->text_ns <= 0)
		return outcome;
	return find_careful(engine, scratch, subject, quick.from, ret);
}
