/* SPDX-License-Identifier: Apache-2.0 */
/* The second reading: where commands begin and words end in the tree of tree-sitter-bash, compared
 * with what the reader found. */
#include "shell/private.h"

#include <stdlib.h>
#include <time.h>
#include <tree_sitter/api.h>

#include "base/mem.h"
#include "base/text.h"

/* The grammar's only symbol; its header is not installed with the sources. */
const TSLanguage *tree_sitter_bash(void);

/* Of nodes for text that the grammar does not fit; the library's header has no name for it. */
#define ERROR_SYMBOL ((TSSymbol)-1)

/* What a node means here. */
enum node_kind {
	NODE_UNKNOWN, /* not looked up yet */
	NODE_OTHER,
	NODE_COMMAND,
	NODE_NAME,        /* of a command */
	NODE_DECLARATION, /* export, declare, unset …: a command with a keyword for a name */
	NODE_TEST,        /* [ ], [[ ]], (( )) */
	NODE_REDIRECT,
	NODE_WORD,        /* a word where it stands in one of those above */
	NODE_SUBSTITUTION,
	NODE_ASSIGNMENT,  /* a word of a declaration */
	NODE_VARIABLE,    /* so is this */
};

static const struct {
	char name[24];
	enum node_kind kind;
} node_names[] = {
	{ "command", NODE_COMMAND },
	{ "command_name", NODE_NAME },
	{ "declaration_command", NODE_DECLARATION },
	{ "unset_command", NODE_DECLARATION },
	{ "test_command", NODE_TEST },
	{ "file_redirect", NODE_REDIRECT },
	{ "herestring_redirect", NODE_REDIRECT },
	{ "heredoc_redirect", NODE_REDIRECT },
	{ "word", NODE_WORD },
	{ "string", NODE_WORD },
	{ "raw_string", NODE_WORD },
	{ "ansi_c_string", NODE_WORD },
	{ "translated_string", NODE_WORD },
	{ "number", NODE_WORD },
	{ "expansion", NODE_WORD },
	{ "simple_expansion", NODE_WORD },
	{ "command_substitution", NODE_SUBSTITUTION },
	{ "process_substitution", NODE_WORD },
	{ "arithmetic_expansion", NODE_WORD },
	{ "brace_expression", NODE_WORD },
	{ "concatenation", NODE_WORD },
	{ "test_operator", NODE_WORD },
	{ "regex", NODE_WORD },
	{ "$", NODE_WORD },
	{ "=~", NODE_WORD },
	{ "==", NODE_WORD },
	{ "variable_assignment", NODE_ASSIGNMENT },
	{ "variable_name", NODE_VARIABLE },
};

enum {
	MAX_BYTES = 30000,    /* each may be a node, with an empty one before it */
	MAX_LINE_BYTES = 1500, /* of a heredoc: the grammar's time goes with the square of it */
	SLICE_US = 20000,     /* of parsing, after which the budget is looked at */
};

/* What is cut out of a long text: `removed` bytes in all before place `at` of what is left. */
struct heredoc_cut {
	uint32_t at, removed;
};

struct tree_parser {
	TSParser *parser;
	unsigned char *kinds; /* by symbol, as they are met */
	uint32_t symbol_count;
};

/* Places in the order of the text. */
struct marks {
	struct text_place *at;
	size_t count, cap;
};

struct tree_walk {
	const struct tree_parser *parser;
	struct shell_reading *reading;
	struct span text; /* that was parsed */
	struct heredoc_cut *cuts;
	size_t cut_count;
	struct marks commands, words;
	size_t errors;
};

/* A place in the parsed text as one in the whole text. */
static uint32_t whole_place(const struct tree_walk *walk, uint32_t at)
{
	uint32_t removed = 0;

	for (size_t i = 0; i < walk->cut_count && walk->cuts[i].at <= at; i++)
		removed = walk->cuts[i].removed;
	return at + removed;
}

static void marks_add(struct marks *marks, uint32_t start, uint32_t end)
{
	if (marks->count == marks->cap)
		marks->at = mem_grow(marks->at, &marks->cap, marks->count + 1,
		                     sizeof(*marks->at));
	marks->at[marks->count++] = (struct text_place){ start, end };
}

struct tree_parser *tree_parser_new(void)
{
	const TSLanguage *language = tree_sitter_bash();
	TSParser *inner = ts_parser_new();
	struct tree_parser *parser;

	if (!ts_parser_set_language(inner, language)) {
		ts_parser_delete(inner);
		return NULL;
	}
	parser = mem_alloc(1, sizeof(*parser));
	parser->parser = inner;
	parser->symbol_count = ts_language_symbol_count(language);
	parser->kinds = mem_alloc(parser->symbol_count, 1);
	return parser;
}

void tree_parser_free(struct tree_parser *parser)
{
	if (!parser)
		return;
	ts_parser_delete(parser->parser);
	free(parser->kinds);
	free(parser);
}

static enum node_kind node_kind_by_name(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_LEN(node_names); i++)
		if (strcmp(name, node_names[i].name) == 0)
			return node_names[i].kind;
	return NODE_OTHER;
}

static enum node_kind node_kind_of(const struct tree_walk *walk, TSNode node)
{
	TSSymbol symbol = ts_node_symbol(node);
	unsigned char *kind;

	if (symbol >= walk->parser->symbol_count)
		return NODE_OTHER;
	kind = &walk->parser->kinds[symbol];
	if (*kind == NODE_UNKNOWN)
		*kind = (unsigned char)node_kind_by_name(ts_node_type(node));
	return *kind;
}

static bool node_is_word(enum node_kind kind, enum node_kind parent)
{
	if (parent == NODE_DECLARATION)
		return kind == NODE_WORD || kind == NODE_SUBSTITUTION || kind == NODE_ASSIGNMENT ||
		       kind == NODE_VARIABLE;
	return (parent == NODE_COMMAND || parent == NODE_REDIRECT) &&
	       (kind == NODE_WORD || kind == NODE_SUBSTITUTION || kind == NODE_NAME);
}

static void visit_error(struct tree_walk *walk, uint32_t start, uint32_t end)
{
	start = whole_place(walk, start);
	end = whole_place(walk, end);
	if (walk->errors++ < 4)
		reading_problem(walk->reading, SHELL_PROBLEM_SYNTAX, start,
		                end > start ? end : start + 1);
}

/* Marks what the node is; whether to look into it. */
static bool tree_visit(struct tree_walk *walk, TSNode node, enum node_kind parent)
{
	enum node_kind kind = node_kind_of(walk, node);
	uint32_t start = ts_node_start_byte(node);
	uint32_t end = ts_node_end_byte(node);
	const char *text = walk->text.data;

	if (ts_node_is_missing(node) || ts_node_symbol(node) == ERROR_SYMBOL)
		visit_error(walk, start, end);
	/* (( )) is a command whose name is an expression for the grammar. */
	if ((kind == NODE_NAME || parent == NODE_NAME) && start + 1 < end && text[start] == '(')
		return true;
	if (node_is_word(kind, parent))
		marks_add(&walk->words, whole_place(walk, start), whole_place(walk, end));
	if (kind == NODE_DECLARATION) {
		uint32_t word = start;

		while (word < end && text[word] >= 'a' && text[word] <= 'z')
			word++;
		marks_add(&walk->words, whole_place(walk, start), whole_place(walk, word));
	}
	if (kind == NODE_NAME || kind == NODE_DECLARATION ||
	    (kind == NODE_TEST && start < end && text[start] == '['))
		marks_add(&walk->commands, whole_place(walk, start), whole_place(walk, end));
	/* The contents of backticks are read as a separate script. */
	return kind != NODE_SUBSTITUTION || start >= end || text[start] != '`';
}

/* In the order of the text; needs no stack, so a deep tree is no harm. */
static void walk_tree(struct tree_walk *walk, TSNode root)
{
	TSTreeCursor cursor = ts_tree_cursor_new(root);
	enum node_kind parents[256]; /* of what stands in what; deeper ones are not known */
	size_t depth = 0;
	bool down = true;

	parents[0] = NODE_OTHER;
	for (;;) {
		TSNode node = ts_tree_cursor_current_node(&cursor);

		if (down && tree_visit(walk, node, depth < 256 ? parents[depth] : NODE_OTHER) &&
		    ts_tree_cursor_goto_first_child(&cursor)) {
			if (++depth < 256)
				parents[depth] = node_kind_of(walk, node);
			else
				visit_error(walk, ts_node_start_byte(node), ts_node_end_byte(node));
		} else if (ts_tree_cursor_goto_next_sibling(&cursor)) {
			down = true;
		} else if (ts_tree_cursor_goto_parent(&cursor)) {
			depth--;
			down = false;
		} else {
			break;
		}
	}
	ts_tree_cursor_delete(&cursor);
}

static int mark_order(const void *a, const void *b)
{
	const struct text_place *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static void marks_sort(struct marks *marks)
{
	if (marks->count > 1)
		qsort(marks->at, marks->count, sizeof(*marks->at), mark_order);
}

/* The grammar loses the - of "python3 - <<EOF". */
static bool is_lost(struct span text, struct text_place at)
{
	struct span rest = span_skip(text, at.end);

	return at.end - at.start == 1 && text.data[at.start] == '-' &&
	       span_starts(span_trim(span_head(rest, 16)), SPAN("<<"));
}

/* The reader's places, in the order of the text. */
static void reading_collect_marks(const struct shell_reading *reading, struct marks *commands,
                                  struct marks *words)
{
	for (size_t i = 0; i < reading->command_count; i++) {
		const struct read_command *command = &reading->commands[i];
		uint32_t next = command->words.first;
		struct span name = next ? reading_span(reading, reading->words[next - 1].at)
		                        : span_of("", 0);
		struct text_place last = next ?
			reading->words[command->words.last - 1].at : command->at;

		if (next)
			marks_add(commands, reading->words[next - 1].at.start, last.end);
		if (span_eq(name, SPAN("[")) || span_eq(name, SPAN("[[")))
			next = 0;
		for (; next; next = reading->words[next - 1].next) {
			struct text_place at = reading->words[next - 1].at;

			if (!is_lost(reading->text, at))
				marks_add(words, at.start, at.end);
		}
	}
	for (size_t i = 0; i < reading->redirect_count; i++) {
		struct text_place at = reading->redirects[i].target;
		enum shell_redirect_kind kind = reading->redirects[i].kind;
		bool closes = (kind == SHELL_REDIRECT_DUP_OUT || kind == SHELL_REDIRECT_DUP_IN) &&
		              span_eq(reading_span(reading, at), SPAN("-"));

		/* For the grammar >&- is an operator. */
		if (kind != SHELL_REDIRECT_HEREDOC && !closes)
			marks_add(words, at.start, at.end);
	}
	marks_sort(commands);
	marks_sort(words);
}

/* One problem for each place that only one of the two has; with `ends` both ends count. */
static void report_differences(struct shell_reading *reading, const struct marks *a,
                               const struct marks *b, bool ends)
{
	size_t i = 0, k = 0;

	while (i < a->count || k < b->count) {
		const struct text_place *x = i < a->count ? &a->at[i] : NULL;
		const struct text_place *y = k < b->count ? &b->at[k] : NULL;
		bool same = x && y && x->start == y->start && (!ends || x->end == y->end);
		const struct text_place *first = !y || (x && mark_order(x, y) <= 0) ? x : y;

		if (!same)
			reading_problem(reading, SHELL_PROBLEM_READINGS_DIFFER, first->start,
			                first->end);
		i += same || first == x;
		k += same || first == y;
	}
}

/* The processor's time of this thread: one that waits while others have it uses up nothing. */
static uint64_t tree_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

#ifdef HASP_TREE_SITTER_TIMEOUT
/* The library's limit is of time that passes: the parser goes on from there while any is left. */
static TSTree *tree_parse(TSParser *parser, struct span text, uint64_t budget_us)
{
	const uint64_t begin = tree_now_us();
	TSTree *tree;

	ts_parser_set_timeout_micros(parser, SLICE_US);
	do
		tree = ts_parser_parse_string(parser, NULL, text.data, (uint32_t)text.len);
	while (!tree && tree_now_us() - begin < budget_us);
	return tree;
}
#else
static const char *tree_read_text(void *payload, uint32_t at, TSPoint point, uint32_t *ret_len)
{
	const struct span *text = payload;
	struct span rest = span_skip(*text, at);

	(void)point;
	*ret_len = (uint32_t)rest.len;
	return rest.data;
}

static bool tree_time_is_over(TSParseState *state)
{
	return tree_now_us() > *(const uint64_t *)state->payload;
}

/* Libraries from 0.26 on have no other time limit. */
static TSTree *tree_parse(TSParser *parser, struct span text, uint64_t budget_us)
{
	uint64_t end = tree_now_us() + budget_us;
	TSInput input = { .payload = &text, .read = tree_read_text,
	                  .encoding = TSInputEncodingUTF8 };
	TSParseOptions options = { .payload = &end, .progress_callback = tree_time_is_over };

	return ts_parser_parse_with_options(parser, NULL, input, options);
}
#endif

static bool has_long_line(struct span text)
{
	struct span line;

	while (line_next(&text, &line))
		if (line.len > MAX_LINE_BYTES)
			return true;
	return false;
}

/* Whether a redirection is a heredoc that the parser would take too long for. */
static bool is_hard(const struct shell_reading *reading, const struct read_redirect *redirect)
{
	return redirect->kind == SHELL_REDIRECT_HEREDOC &&
	       has_long_line(reading_span(reading, redirect->target));
}

static bool needs_cuts(const struct shell_reading *reading)
{
	bool hard = reading->text.len > MAX_BYTES;

	for (size_t i = 0; i < reading->redirect_count && !hard; i++)
		hard = is_hard(reading, &reading->redirects[i]);
	return hard;
}

/* The text without heredocs in which nothing is expanded; false when a hard one stays. */
static bool cut_heredocs(struct tree_walk *walk, struct buf *text)
{
	const struct shell_reading *reading = walk->reading;
	uint32_t from = 0, removed = 0;

	walk->cuts = mem_alloc(reading->redirect_count, sizeof(*walk->cuts));
	for (size_t i = 0; i < reading->redirect_count; i++) {
		const struct read_redirect *redirect = &reading->redirects[i];
		struct text_place body = redirect->target;

		if (redirect->kind != SHELL_REDIRECT_HEREDOC)
			continue;
		/* Those that expand something stay, and those out of order. */
		if (body.start < from || (!redirect->raw && word_has_pieces(reading, body))) {
			if (is_hard(reading, redirect))
				return false;
			continue;
		}
		buf_append(text, reading->text.data + from, body.start - from);
		from = body.end;
		removed += body.end - body.start;
		walk->cuts[walk->cut_count++] = (struct heredoc_cut){ (uint32_t)text->len,
								     removed };
	}
	return buf_append(text, reading->text.data + from, reading->text.len - from);
}

static void tree_compare_marks(struct tree_walk *walk, TSTree *tree)
{
	struct shell_reading *reading = walk->reading;
	struct marks commands = { 0 }, words = { 0 };

	walk_tree(walk, ts_tree_root_node(tree));
	if (walk->errors == 0) {
		size_t kept;

		reading_collect_marks(reading, &commands, &words);
		marks_sort(&walk->commands);
		/* The grammar gives a word in parts now and then: those that touch are one. A
		 * word inside another (in a substitution) stays. */
		kept = 0;
		marks_sort(&walk->words);
		for (size_t i = 0; i < walk->words.count; i++) {
			struct text_place *last = kept ? &walk->words.at[kept - 1] : NULL;

			if (last && last->end == walk->words.at[i].start)
				last->end = walk->words.at[i].end;
			else
				walk->words.at[kept++] = walk->words.at[i];
		}
		walk->words.count = kept;
		report_differences(reading, &commands, &walk->commands, /* ends= */ false);
		report_differences(reading, &words, &walk->words, /* ends= */ true);
	}
	free(commands.at);
	free(words.at);
	free(walk->commands.at);
	free(walk->words.at);
}

/* The text with blanks for what the grammar does not know. */
static char *blank_times(const struct shell_reading *reading)
{
	char *text = mem_dup(reading->text.data, reading->text.len);

	for (unsigned i = 0; i < reading->time_count; i++)
		memset(text + reading->times[i].start, ' ',
		       reading->times[i].end - reading->times[i].start);
	return text;
}

static void compare_text(struct tree_parser *parser, struct shell_reading *reading,
                         uint64_t *budget_us)
{
	_cleanup_buf_ struct buf shorter = BUF_INIT(MAX_BYTES);
	struct tree_walk walk = { .parser = parser, .reading = reading, .text = reading->text };
	uint64_t start = tree_now_us(), used;
	bool fits = *budget_us > 0;
	TSTree *tree = NULL;

	if (needs_cuts(reading)) {
		fits &= cut_heredocs(&walk, &shorter);
		walk.text = buf_view(&shorter);
	}
	if (fits)
		tree = tree_parse(parser->parser, walk.text, *budget_us);
	used = tree_now_us() - start;
	*budget_us = used < *budget_us ? *budget_us - used : 0;
	if (tree) {
		tree_compare_marks(&walk, tree);
		ts_tree_delete(tree);
	} else {
		ts_parser_reset(parser->parser);
		reading_problem(reading, SHELL_PROBLEM_LIMIT, 0, reading->text.len);
	}
	free(walk.cuts);
}

void tree_compare(struct tree_parser *parser, struct shell_reading *reading, uint64_t *budget_us)
{
	_cleanup_free_ char *blanked = reading->time_count ? blank_times(reading) : NULL;
	struct span text = reading->text;

	if (blanked)
		reading->text = span_of(blanked, text.len);
	compare_text(parser, reading, budget_us);
	reading->text = text;
}
