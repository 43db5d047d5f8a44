/* SPDX-License-Identifier: Apache-2.0 */
/* One line, read as what may stand for text that was left out (content.c weighs the evidence).
 *
 * The forms are those that models are known to write, and that other editors look for: Cline's
 * detectCodeOmission, Gemini CLI's detectOmissionPlaceholders, the merge marks of Cursor
 * ("... existing code ..."), Lovable ("... keep existing code") and Windsurf ("{{ ... }}").
 */
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "edit/private.h"

enum {
	LINE_MAX_BYTES = 160, /* a longer line says more than "the rest" */
	WORDS_MAX = 20,
	OTHERS_MAX = 4,       /* names among the words: "... existing retry logic of send() ..." */
	PEELS_MAX = 12,       /* marks nest, but not deeply */
};

/* ---- the vocabulary --------------------------------------------------------------- */

/* By first letter, each word followed by what it is:
 *
 *   !  says by itself that something was left out
 *   +  says so of a noun: "existing code"
 *   *  the same, and hardly ever means anything else: "rest of the file"
 *   ^  says so of one or of a state: "same as before"
 *   -  may say so of a noun: "other methods"
 *   =  such a noun
 *   .  may stand between them
 *   ~  says so weakly: "etc", "snip"
 */
static const char *const vocabulary[26] = {
	['a' - 'a'] = "a. above= actual. additional- after. again. all. already. also. an. "
	              "and. any. are. args= arguments= array= arrays= as. assertions= assets= "
	              "at. attributes= ",
	['b' - 'a'] = "be. before= below= block= blocks= bodies= body= branches= brevity! but. ",
	['c' - 'a'] = "calls= cases= class= classes= clauses= clarity! code= columns= command= "
	              "commands= comment= comments= component= components= config= "
	              "configuration= constants= constructor= content= contents= continue. "
	              "continues^ controller= css= current. ",
	['d' - 'a'] = "data= declarations= definition= definitions= dependencies= details= "
	              "docstring= document= documentation= down. ",
	['e' - 'a'] = "earlier= elements= elided! else= end. endpoints= entire. entries= "
	              "enums= error= etc~ etcetera~ events= everything= exactly. examples= "
	              "existing+ exports= ",
	['f' - 'a'] = "features= fields= file= files= for. form= from. full. function= "
	              "functionality= functions= further- ",
	['g' - 'a'] = "go. goes. ",
	['h' - 'a'] = "handler= handlers= handling= has. have. headers= helpers= here. hooks= "
	              "html= ",
	['i' - 'a'] = "if. implementation= implementations= import= imports= in. includes= "
	              "init= initialization= inputs= interfaces= is. it. items= its. ",
	['j' - 'a'] = "javascript= js= json= jsx= just. ",
	['k' - 'a'] = "keep- keeps- keys= ",
	['l' - 'a'] = "layout= leave- left. line= lines= links= list= listeners= logic= loop= ",
	['m' - 'a'] = "many- markup= members= method= methods= middleware= model= models= "
	              "module= modules= more- my. ",
	['n' - 'a'] = "nodes= not. nothing. ",
	['o' - 'a'] = "object= objects= of. omitted! on. one= ones= operations= option= "
	              "options= or. original+ other- others- our. out. output= ",
	['p' - 'a'] = "page= paragraphs= parameters= params= part= parts= plus. preserve- "
	              "preserved- previous+ previously= prior+ process= program= properties= "
	              "props= ",
	['q' - 'a'] = "queries= ",
	['r' - 'a'] = "records= remain. remainder* remaining+ remains. removed- render= "
	              "repeat- rest* retain- return= returns= route= router= routes= rows= "
	              "rules= ",
	['s' - 'a'] = "same^ schema= script= section= sections= sentences= services= settings= "
	              "setup= shortened! shown. similar^ similarly^ skip- skipped! snip~ "
	              "snipped! so~ some. source= start. state= statements= states= stay. "
	              "stays. steps= still. structure= stuff= style= styles= ",
	['t' - 'a'] = "table= tables= template= test= tests= text= that. the. their. them. "
	              "there. these. things= this. those. through. to. truncated! type= types= ",
	['u' - 'a'] = "unaffected! unaltered! unchanged! unmodified! until. untouched! up. "
	              "utilities= ",
	['v' - 'a'] = "validation= values= variable= variables= views= ",
	['w' - 'a'] = "was. were. where. will. with. without. works. ",
	['y' - 'a'] = "your. yours. ",
};

/* What the vocabulary says of a word; '#' of a number or a range, '?' of any other. */
static char word_class(struct span word)
{
	const char *at = ascii_is_letter(word.data[0]) ?
	                 vocabulary[(word.data[0] | 0x20) - 'a'] : NULL;
	struct span number = word.data[0] == 'L' || word.data[0] == 'l' ? span_skip(word, 1) : word;

	while (at && *at) {
		size_t len = strcspn(at, "!+*^-=.~");

		if (len == word.len && strncasecmp(at, word.data, len) == 0)
			return at[len];
		at += len + 2;
	}
	for (size_t i = 0; i < number.len; i++)
		if (!ascii_is_digit(number.data[i]) && number.data[i] != '-' &&
		    number.data[i] != 'L')
			return '?';
	return number.len ? '#' : '?';
}

/* ---- marks and dots --------------------------------------------------------------- */

enum mark_kind { MARK_COMMENT, MARK_BRACKET, MARK_NOTHING };

/* Longer ones first. */
static const struct mark {
	const char *text;
	enum mark_kind kind;
} openers[] = {
	{ "{/*", MARK_COMMENT }, { "{{", MARK_COMMENT }, { "{#", MARK_COMMENT },
	{ "<!--", MARK_COMMENT }, { "<%--", MARK_COMMENT }, { "--[[", MARK_COMMENT },
	{ "/*", MARK_COMMENT }, { "//", MARK_COMMENT }, { "--", MARK_COMMENT },
	{ "(*", MARK_COMMENT }, { "\"\"\"", MARK_COMMENT }, { "'''", MARK_COMMENT },
	{ "REM ", MARK_COMMENT }, { "rem ", MARK_COMMENT }, { "dnl ", MARK_COMMENT },
	{ "#", MARK_COMMENT }, { ";", MARK_COMMENT }, { "%", MARK_COMMENT },
	{ "*", MARK_COMMENT }, { "!", MARK_COMMENT }, { "' ", MARK_COMMENT },
	{ "(", MARK_BRACKET }, { "[", MARK_BRACKET }, { "<", MARK_BRACKET }, { "{", MARK_BRACKET },
	{ "- ", MARK_NOTHING }, { "|", MARK_NOTHING }, { "=", MARK_NOTHING },
	{ ":", MARK_NOTHING },
}, closers[] = {
	{ "*/", MARK_NOTHING }, { "-->", MARK_NOTHING }, { "--%>", MARK_NOTHING },
	{ "\"\"\"", MARK_NOTHING }, { "'''", MARK_NOTHING }, { "]]", MARK_NOTHING },
	{ "*)", MARK_NOTHING }, { "#}", MARK_NOTHING }, { "--", MARK_NOTHING },
	{ ")", MARK_NOTHING }, { "]", MARK_NOTHING }, { ">", MARK_NOTHING },
	{ "}", MARK_NOTHING }, { "=", MARK_NOTHING }, { "*", MARK_NOTHING },
	{ ";", MARK_NOTHING }, { ",", MARK_NOTHING }, { ":", MARK_NOTHING },
	{ "#", MARK_NOTHING }, { "-", MARK_NOTHING },
};

/* What a line is made of, once its marks are off. */
struct placeholder_parts {
	bool comment, bracket;   /* it is in such marks */
	size_t front, back;      /* dots at its ends */
	bool apart;              /* white space, or a bracket, follows the dots in front */
	bool plain;              /* nothing but words and a sentence's marks is between */
	unsigned self, head, rest, same, may, nouns, weak, others, numbers, words;
};

/* Three dots or more, or an ellipsis; with words two will do. */
static size_t dots_at(struct span text, bool front)
{
	static const struct span ellipsis = { "\xE2\x80\xA6", 3 };
	size_t n = 0;

	if (front ? span_starts(text, ellipsis) : span_ends(text, ellipsis))
		return 3;
	while (n < text.len && text.data[front ? n : text.len - 1 - n] == '.')
		n++;
	return n < 2 ? 0 : n;
}

static const struct mark *mark_find(struct span text, const struct mark *marks, size_t count,
                                    bool front)
{
	for (size_t i = 0; i < count; i++) {
		struct span mark = span_str(marks[i].text);

		if (front ? span_starts(text, mark) : span_ends(text, mark))
			return &marks[i];
	}
	return NULL;
}

/* Takes dots, then marks, off the front. False: there were none. */
static bool peel_front(struct span *line, struct placeholder_parts *parts)
{
	size_t dots = dots_at(*line, /* front= */ true);
	const struct mark *mark = dots ? NULL :
		mark_find(*line, openers, ARRAY_LEN(openers), /* front= */ true);

	if (!dots && !mark)
		return false;
	*line = span_skip(*line, dots ? dots : strlen(mark->text));
	parts->front += dots;
	if (dots)
		parts->apart = line->len && strchr(" \t([{", line->data[0]);
	parts->comment |= mark && mark->kind == MARK_COMMENT;
	parts->bracket |= mark && mark->kind == MARK_BRACKET;
	*line = span_trim(*line);
	return true;
}

static bool peel_back(struct span *line, struct placeholder_parts *parts)
{
	size_t dots = dots_at(*line, /* front= */ false);
	const struct mark *mark = dots ? NULL :
		mark_find(*line, closers, ARRAY_LEN(closers), /* front= */ false);

	if (!dots && !mark)
		return false;
	*line = span_trim(span_head(*line, line->len - (dots ? dots : strlen(mark->text))));
	parts->back += dots;
	return true;
}

/* ---- reading ---------------------------------------------------------------------- */

static bool is_word_end(char c)
{
	return strchr(" \t,;:/()[]{}\"&+", c) != NULL;
}

static bool is_only_words(struct span line)
{
	static const char marks[] = " ,.-'()";

	for (size_t i = 0; i < line.len; i++)
		if (!ascii_is_alnum((unsigned char)line.data[i]) && !strchr(marks, line.data[i]))
			return false;
	return true;
}

static void count_word(struct span word, bool aside, struct placeholder_parts *parts)
{
	while (word.len && strchr(".!'`", word.data[word.len - 1]))
		word.len--;
	while (word.len && strchr("'`", word.data[0]))
		word = span_skip(word, 1);
	if (!word.len)
		return;
	parts->words++;
	switch (word_class(word)) {
	case '!': parts->self++; break;
	case '*': parts->rest++; break;
	case '+': parts->head++; break;
	case '^': parts->same++; break;
	case '-': parts->may++; break;
	case '=': parts->nouns++; break;
	case '~': parts->weak++; break;
	case '#': parts->numbers++; break;
	case '.': break;
	default: parts->others += !aside; /* in parentheses anything may be named */
	}
}

/* Stops where the words can no longer make a placeholder, as those of most lines at their first. */
static void count_words(struct span line, struct placeholder_parts *parts)
{
	unsigned others_max = parts->comment || (parts->front && parts->back) ? OTHERS_MAX :
	                      parts->front || parts->back ? OTHERS_MAX / 2 : 0;
	bool aside = parts->comment || parts->front || parts->back;
	int depth = 0;

	while (line.len && parts->words <= WORDS_MAX && parts->others <= others_max) {
		size_t n = 0;

		while (n < line.len && !is_word_end(line.data[n]))
			n++;
		if (n)
			count_word(span_head(line, n), aside && depth > 0, parts);
		if (n < line.len)
			depth += (line.data[n] == '(') - (line.data[n] == ')');
		line = span_skip(line, n < line.len ? n + 1 : n);
	}
}

/* How sure the words say that something was left out. */
enum saying { SAYS_NOTHING, SAYS_PERHAPS, SAYS_SAME, SAYS_CLEARLY };

static enum saying placeholder_says(const struct placeholder_parts *parts)
{
	if (parts->self || ((parts->rest || parts->head) && parts->nouns))
		return SAYS_CLEARLY;
	if (!parts->nouns)
		return SAYS_NOTHING;
	return parts->same ? SAYS_SAME : parts->may ? SAYS_PERHAPS : SAYS_NOTHING;
}

/* What the parts say together; edit.h has the table. */
static enum placeholder placeholder_weigh(const struct placeholder_parts *parts)
{
	bool marked = parts->comment || parts->bracket;
	bool both = parts->front && parts->back;
	bool front = (parts->front > 2 || both) && (parts->apart || parts->comment);
	bool dots = front || parts->back;
	unsigned names_max = both && parts->comment ? 2 : front && marked;
	bool lines = parts->front && parts->numbers && parts->nouns;
	bool firm = (parts->rest || parts->head) && parts->nouns && (parts->self || parts->same);
	enum saying says = placeholder_says(parts);

	if (!parts->words)
		return parts->front + parts->back < 3 ? PLACEHOLDER_NONE :
		       parts->comment ? PLACEHOLDER_COMMENTED_DOTS : PLACEHOLDER_DOTS;
	if (parts->words > WORDS_MAX || (!marked && parts->words < 2 && !both))
		return PLACEHOLDER_NONE;
	if (says == SAYS_CLEARLY && parts->others <= names_max &&
	    (both || front || (parts->back && marked && (parts->rest || parts->bracket))))
		return PLACEHOLDER_CERTAIN;
	if (says >= (dots ? SAYS_PERHAPS : SAYS_SAME) &&
	    (dots || (marked && parts->plain)) &&
	    parts->others <= (both || firm ? OTHERS_MAX : dots ? OTHERS_MAX / 2 : 0))
		return PLACEHOLDER_LIKELY;
	if (says == SAYS_CLEARLY && parts->plain && parts->words > 2 &&
	    !parts->others)
		return PLACEHOLDER_SENTENCE;
	if (parts->comment && parts->weak && !parts->others && (dots || parts->words == 1))
		return PLACEHOLDER_COMMENTED_DOTS;
	if (parts->comment && parts->others <= (both ? OTHERS_MAX : 0) &&
	    (both || lines || (front && (parts->rest || parts->head))))
		return PLACEHOLDER_LIKELY;
	return PLACEHOLDER_NONE;
}

static enum placeholder placeholder_read_marks(struct span line)
{
	struct placeholder_parts parts = { 0 };
	struct span rest = line;
	unsigned peels = 0;

	while (peels++ < PEELS_MAX && peel_front(&rest, &parts))
		;
	for (peels = 0; peels < PEELS_MAX && peel_back(&rest, &parts); peels++)
		;
	parts.plain = is_only_words(rest);
	count_words(rest, &parts);
	return placeholder_weigh(&parts);
}

/* Where a comment begins within the line whose text begins with dots; empty: nowhere. */
static struct span find_inner(struct span line)
{
	static const struct {
		const char *open, *close;
	} inner[] = {
		{ "/*", "*/" }, { "//", NULL }, { "<!--", "-->" }, { " #", NULL }, { " --", NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(inner); i++) {
		const char *at = memmem(line.data, line.len, inner[i].open, strlen(inner[i].open));
		struct span text, body;
		const char *end;

		if (!at || at == line.data)
			continue;
		text = span_skip(line, (size_t)(at - line.data));
		body = span_trim(span_skip(text, strlen(inner[i].open)));
		if (!dots_at(body, /* front= */ true) || memchr(body.data, '"', body.len) ||
		    memchr(body.data, '\'', body.len) || memchr(body.data, '`', body.len))
			continue;
		end = inner[i].close ?
		      memmem(text.data, text.len, inner[i].close, strlen(inner[i].close)) : NULL;
		return end ? span_head(text, (size_t)(end - text.data)) : text;
	}
	return span_of("", 0);
}

/* Whether the line ends with a body of dots: "function f() { ... }". */
static bool ends_with_dots_body(struct span line)
{
	size_t n;

	while (line.len && strchr(";,)", line.data[line.len - 1]))
		line = span_trim(span_head(line, line.len - 1));
	if (!span_ends(line, SPAN("}")))
		return false;
	line = span_trim(span_head(line, line.len - 1));
	n = dots_at(line, /* front= */ false);
	line = span_trim(span_head(line, line.len - n));
	return n == 3 && span_ends(line, SPAN("{")) && line.len > 1 &&
	       !memchr(line.data, '"', line.len) && !memchr(line.data, '\'', line.len) &&
	       !memchr(line.data, '`', line.len) && !placeholder_is_comment(line);
}

bool placeholder_is_comment(struct span body)
{
	static const char *const marks[] = {
		"//", "/*", "{/*", "<!--", "--", "{#", "(*", "\"\"\"", "'''", "REM ", "rem ",
	};
	static const char single[] = "#;%*!";

	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (span_starts(body, span_str(marks[i])))
			return true;
	return body.len && strchr(single, body.data[0]) &&
	       (body.len == 1 || strchr(" \t#;%*!/", body.data[1]));
}

enum placeholder placeholder_read(struct span line)
{
	struct span body = span_trim(line_body(line)), inner;
	enum placeholder found;

	if (!body.len || body.len > LINE_MAX_BYTES)
		return PLACEHOLDER_NONE;
	found = placeholder_read_marks(body);
	if (found != PLACEHOLDER_NONE ||
	    !(memmem(body.data, body.len, "..", 2) ||
	      memmem(body.data, body.len, "\xE2\x80\xA6", 3)))
		return found;
	inner = find_inner(body);
	found = placeholder_read_marks(span_trim(inner));
	if (found == PLACEHOLDER_CERTAIN || found == PLACEHOLDER_LIKELY)
		return found;
	return ends_with_dots_body(body) ? PLACEHOLDER_DOTS : PLACEHOLDER_NONE;
}
