/* SPDX-License-Identifier: Apache-2.0 */
/* What options and operands of a program make it do: the rules that rows of the table share. */
#include "shell/judge.h"

#include <stdio.h>

#include "base/mem.h"
#include "shell/private.h"

/* ---- what is found --------------------------------------------------------------------- */

static bool text_is_shown(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] < 0x20 || text.data[i] > 0x7e)
			return false;
	return text.len > 0 && text.len <= 60;
}

static unsigned strength(enum program_effect effect)
{
	static const unsigned char strengths[] = {
		[PROGRAM_WRITES] = 1, [PROGRAM_UNKNOWN] = 2, [PROGRAM_DELETES] = 3,
		[PROGRAM_CONNECTS] = 4, [PROGRAM_RUNS] = 5,
	};

	return strengths[effect];
}

/* Whether to report it; then it is the strongest until now. */
static bool is_news(struct judging *j, enum program_effect effect, size_t word)
{
	if (word < j->from ||
	    (j->found && strength(j->excess->effect) >= strength(effect)))
		return false;
	j->found = true;
	j->excess->effect = effect;
	j->excess->word = word;
	return true;
}

static void judging_program_name(const struct judging *j, char name[static 48])
{
	struct span base = shell_command_base(j->command);

	snprintf(name, 48, "%.*s%s%s", (int)(base.len < 20 ? base.len : 20), base.data,
	         j->row && j->row->verb[0] ? " " : "", j->row ? j->row->verb : "");
}

void judge_note_effect(struct judging *j, enum program_effect effect, size_t word, const char *what,
                       const struct shell_word *value)
{
	static const char *const verbs[] = {
		[PROGRAM_WRITES] = "writes", [PROGRAM_DELETES] = "deletes", [PROGRAM_RUNS] = "runs",
		[PROGRAM_CONNECTS] = "connects to",
	};
	static const char *const objects[] = {
		[PROGRAM_WRITES] = "a file", [PROGRAM_DELETES] = "files",
		[PROGRAM_RUNS] = "a program or script", [PROGRAM_CONNECTS] = "a network address",
	};
	bool shown = value && !value->dynamic && text_is_shown(value->value);
	char name[48];

	if (!is_news(j, effect, word))
		return;
	judging_program_name(j, name);
	snprintf(j->excess->sentence, sizeof(j->excess->sentence), "%s's %s %s %.*s.", name, what,
	         verbs[effect], shown ? (int)value->value.len : (int)strlen(objects[effect]),
	         shown ? value->value.data : objects[effect]);
}

void judge_note_unknown(struct judging *j, size_t word, const char *what)
{
	char name[48];

	j->unsure = true;
	if (!is_news(j, PROGRAM_UNKNOWN, word))
		return;
	judging_program_name(j, name);
	snprintf(j->excess->sentence, sizeof(j->excess->sentence),
	         "%s's %s is known only when it runs.", name, what);
}

/* ---- the table's strings ---------------------------------------------------------------- */

struct spec {
	bool takes, may_take; /* a value; one that is attached */
	char mark;
};

static struct spec read_spec(const char *behind)
{
	struct spec spec = { .takes = *behind == ':', .may_take = *behind == '?' };

	behind += spec.takes || spec.may_take;
	if (*behind && strchr(PROGRAM_MARKS, *behind))
		spec.mark = *behind;
	return spec;
}

static bool spec_find_letter(const char *letters, char letter, struct spec *ret)
{
	const char *at;

	if (strchr(PROGRAM_MARKS ":?", letter))
		return false;
	at = strchr(letters, letter);
	if (!at)
		return false;
	*ret = read_spec(at + 1);
	return true;
}

/* Marks in the order of what they mean for the answer: of an ambiguous abbreviation the worst. */
static char worse(char a, char b)
{
	static const char order[] = "@>#%!=";
	const char *x = a ? strchr(order, a) : NULL, *y = b ? strchr(order, b) : NULL;

	return x && (!y || x > y) ? a : b;
}

struct long_match {
	unsigned count;
	bool exact;
	struct spec spec;
	struct span name;
};

/* All options that `given` abbreviates. */
static struct long_match spec_find_long(const char *longs, struct span given)
{
	struct long_match match = { 0 };

	while (*longs && given.len > 0) {
		struct span row = span_of(longs, strcspn(longs, " "));
		struct span name = span_head(row, strcspn(longs, " :?" PROGRAM_MARKS));
		struct spec spec = read_spec(longs + name.len);
		bool exact = span_eq(name, given);

		longs += row.len + (longs[row.len] == ' ');
		if (!span_starts(name, given) || match.exact)
			continue;
		if (exact || match.count == 0)
			match = (struct long_match){ .spec = spec, .name = name, .exact = exact };
		else if (match.spec.takes != spec.takes || match.spec.mark != spec.mark)
			match.spec.mark = worse(worse(match.spec.mark, spec.mark), '@');
		match.count++;
	}
	return match;
}

/* ---- the words of a call -------------------------------------------------------------- */

/* Whether the value begins with a folder that the shell knows: ~/x, "$HOME/x". */
static bool is_under_home(struct span raw)
{
	if (span_starts(raw, SPAN("\"")))
		raw = span_skip(raw, 1);
	return span_starts(raw, SPAN("~/")) || span_eq(raw, SPAN("~")) ||
	       span_starts(raw, SPAN("$HOME/")) || span_starts(raw, SPAN("${HOME}/"));
}

bool judge_is_operand(const struct shell_command *command, const struct shell_word *word)
{
	if (!word->dynamic)
		return word->value.len < 2 || word->value.data[0] != '-';
	/* What find puts for {} begins as the folders that it was given, never with a dash. */
	if (word->dynamic == SHELL_DYNAMIC_INSERTED && word->value.len == 0)
		return command->via == SHELL_VIA_FIND;
	if (word->value.len == 0)
		return is_under_home(word->raw) &&
		       (word->dynamic & ~(SHELL_DYNAMIC_VARIABLE | SHELL_DYNAMIC_TILDE)) == 0;
	return word->value.data[0] != '-' &&
	       (!word->splits || word->dynamic == SHELL_DYNAMIC_GLOB);
}

void judge_arguments_begin(struct arguments *arguments, struct judging *j, size_t at)
{
	*arguments = (struct arguments){ .j = j, .at = at };
}

static void report_mark(struct arguments *a)
{
	static const enum program_effect effects[] = {
		['>'] = PROGRAM_WRITES, ['#'] = PROGRAM_DELETES, ['!'] = PROGRAM_RUNS,
		['%'] = PROGRAM_RUNS,
	};
	char what[64];

	if (a->mark == '@')
		a->j->unsure = true;
	if (!a->mark || strchr("@=", a->mark))
		return;
	if (a->letter)
		snprintf(what, sizeof(what), "option -%c", a->letter);
	else
		snprintf(what, sizeof(what), "option %s%s",
		         a->j->row->traits & PROGRAM_ONE_DASH ? "-" : "--", a->name);
	judge_note_effect(a->j, effects[(unsigned char)a->mark], a->word, what,
	                  a->has_value ? &a->value : NULL);
}

/* The next word is the option's value. */
static void take_next(struct arguments *a)
{
	const struct shell_command *command = a->j->command;

	if (a->at >= command->word_count) {
		if (command->flags & SHELL_FLAG_APPENDED)
			judge_note_unknown(a->j, command->word_count, "last option");
		a->j->unsure = true;
		return;
	}
	a->has_value = true;
	a->value = command->words[a->at];
	a->value_word = a->at;
	if (a->value.splits)
		judge_note_unknown(a->j, a->at, "argument");
	/* Should it be an option after all, it counts as one: it is read again. */
	if (!a->value.dynamic && a->value.value.len > 1 && a->value.value.data[0] == '-' &&
	    a->mark == 0)
		a->j->unsure = true;
	else
		a->at++;
}

static void attach(struct arguments *a, const struct shell_word *word, size_t from)
{
	a->has_value = true;
	a->value = *word;
	a->value.value = span_skip(word->value, from);
	a->value_word = a->word;
	if (word->splits)
		judge_note_unknown(a->j, a->word, "argument");
}

static void arguments_read_long(struct arguments *a, const struct shell_word *word, size_t dashes)
{
	const char *longs = a->j->row->longs;
	struct span given = span_skip(word->value, dashes);
	const char *equals = span_find(given, '=');
	struct long_match match;

	if (equals)
		given = span_head(given, (size_t)(equals - given.data));
	match = spec_find_long(longs, given);
	if (match.count == 0 && a->j->row->traits & PROGRAM_NO && span_starts(given, SPAN("no-"))) {
		match = spec_find_long(longs, span_skip(given, 3));
		match.spec = (struct spec){ .mark = match.spec.mark == '@' ? '@' : 0 };
	}
	if (match.count == 0)
		a->j->unsure = true;
	a->mark = match.spec.mark;
	snprintf(a->name, sizeof(a->name), "%.*s", (int)match.name.len, match.name.data);
	if (word->dynamic && !equals)
		judge_note_unknown(a->j, a->word, "argument");
	else if (equals)
		attach(a, word, (size_t)(equals + 1 - word->value.data));
	else if (match.spec.takes)
		take_next(a);
}

/* One letter of a cluster. */
static void arguments_read_letter(struct arguments *a, const struct shell_word *word)
{
	struct spec spec = { 0 };
	size_t next = a->in_word + 1;

	a->letter = word->value.data[a->in_word];
	if (!spec_find_letter(a->j->row->letters, a->letter, &spec) &&
	    !(a->j->row->traits & PROGRAM_DIGITS && ascii_is_digit(a->letter)))
		a->j->unsure = true;
	a->mark = spec.mark;
	a->in_word = next < word->value.len ? next : 0;
	if (!a->in_word)
		a->at++;
	if (a->in_word && a->j->row->traits & PROGRAM_APART && spec.takes) {
		a->j->unsure = true;
		return;
	}
	if (a->in_word && a->j->row->traits & PROGRAM_LONE && !spec.takes) {
		a->j->unsure = true;
		a->in_word = 0;
		a->at++;
		return;
	}
	if (spec.takes || (spec.may_take && a->in_word)) {
		if (a->in_word || word->dynamic) {
			a->at += a->in_word > 0;
			attach(a, word, next);
		} else {
			take_next(a);
		}
		a->in_word = 0;
	} else if (word->dynamic && !a->in_word) {
		judge_note_unknown(a->j, a->word, "argument");
	}
}

static enum argument_kind finish_option(struct arguments *a)
{
	report_mark(a);
	return ARGUMENT_OPTION;
}

enum argument_kind judge_arguments_next(struct arguments *a)
{
	const struct shell_command *command = a->j->command;
	const struct shell_word *word;
	struct span text;

	a->letter = a->name[0] = a->mark = 0;
	a->has_value = false;
	if (a->at >= command->word_count)
		return ARGUMENT_END;
	word = &command->words[a->at];
	a->word = a->at;
	if (a->in_word) {
		arguments_read_letter(a, word);
		return finish_option(a);
	}
	text = word->value;
	if (!a->ended && !judge_is_operand(command, word)) {
		if (!word->dynamic && span_eq(text, SPAN("--"))) {
			a->ended = true;
			a->at++;
			return judge_arguments_next(a);
		}
		if (text.len < 2 || text.data[0] != '-') {
			judge_note_unknown(a->j, a->at++, "argument");
			return ARGUMENT_OPERAND;
		}
		if (text.data[1] == '-' || a->j->row->traits & PROGRAM_ONE_DASH) {
			a->at++;
			arguments_read_long(a, word, text.data[1] == '-' ? 2 : 1);
			return finish_option(a);
		}
		a->in_word = 1;
		arguments_read_letter(a, word);
		return finish_option(a);
	}
	a->at++;
	if (a->j->row->traits & PROGRAM_ORDERED)
		a->ended = true;
	return ARGUMENT_OPERAND;
}

/* ---- the common reading -------------------------------------------------------------------- */

/* vim '+!touch M': a line's number and a plain word to look for do nothing else. */
static void judge_plus(struct judging *j, size_t i)
{
	const struct shell_word *word = &j->command->words[i];
	struct span text = span_skip(word->value, 1);
	bool looks = span_starts(text, SPAN("/"));

	if (!span_starts(word->value, SPAN("+")))
		return;
	for (size_t k = looks; k < text.len; k++) {
		char c = text.data[k];

		if (ascii_is_digit(c) || (looks && (shell_is_name((unsigned char)c) || c == ' ')) ||
		    (text.len == 1 && (c == 'G' || c == 'F')))
			continue;
		judge_note_effect(j, PROGRAM_RUNS, i, "operand +", word);
		return;
	}
	if (word->dynamic)
		judge_note_unknown(j, i, "operand +");
}

static void judge_from(struct judging *j, size_t at)
{
	const struct shell_command *command = j->command;
	struct arguments arguments;
	enum argument_kind kind;
	size_t operands = 0;

	judge_arguments_begin(&arguments, j, at);
	while ((kind = judge_arguments_next(&arguments)) != ARGUMENT_END) {
		if (kind != ARGUMENT_OPERAND)
			continue;
		operands += command->words[arguments.word].splits ? PROGRAM_MANY : 1;
		if (operands > j->row->operands && j->row->traits & PROGRAM_OUTPUT)
			judge_note_effect(j, PROGRAM_WRITES, arguments.word, "last operand",
			                  &command->words[arguments.word]);
		if (j->row->traits & PROGRAM_PLUS)
			judge_plus(j, arguments.word);
	}
	if (command->flags & SHELL_FLAG_APPENDED) {
		if (!arguments.ended || j->row->traits & PROGRAM_OUTPUT)
			judge_note_unknown(j, command->word_count, "input");
		operands += PROGRAM_MANY;
	}
	if (operands > j->row->operands && j->row->operands < PROGRAM_MANY)
		j->unsure = true;
}

void judge_common(struct judging *j)
{
	judge_from(j, 1 + (j->row->verb[0] != '\0'));
}

/* tar cIf PROGRAM FILE: a first word without a dash has letters of options, and the words after it
 * are their values, in the same order. */
void judge_tar(struct judging *j)
{
	const struct shell_command *command = j->command;
	const struct shell_word *first = command->word_count > 1 ? &command->words[1] : NULL;
	size_t at = 2;

	if (!first || !judge_is_operand(command, first)) {
		judge_common(j);
		return;
	}
	if (first->dynamic)
		judge_note_unknown(j, 1, "argument");
	for (size_t i = 0; i < first->value.len; i++) {
		struct arguments a = { .j = j, .word = 1, .letter = first->value.data[i] };
		struct spec spec;

		if (!spec_find_letter(j->row->letters, a.letter, &spec))
			continue;
		a.mark = spec.mark;
		if (spec.takes && at < command->word_count) {
			a.has_value = true;
			a.value = command->words[at];
			a.word = at;
			if (a.value.splits)
				judge_note_unknown(j, at, "argument");
			at++;
		}
		report_mark(&a);
	}
	judge_from(j, at);
}

/* date: an operand that does not begin with + sets the clock. */
void judge_date(struct judging *j)
{
	struct arguments arguments;
	enum argument_kind kind;

	judge_arguments_begin(&arguments, j, 1);
	while ((kind = judge_arguments_next(&arguments)) != ARGUMENT_END)
		if (kind == ARGUMENT_OPERAND &&
		    !span_starts(j->command->words[arguments.word].value, SPAN("+")))
			j->unsure = true;
	if (j->command->flags & SHELL_FLAG_APPENDED)
		judge_note_unknown(j, j->command->word_count, "input");
}

/* ---- parts of the shell --------------------------------------------------------------------- */

/* command -v NAME says what NAME is; else it runs it. */
void judge_command(struct judging *j)
{
	const struct shell_command *command = j->command;

	if (command->word_count < 2 || command->words[1].dynamic ||
	    !name_in(command->words[1].value, "-v -V"))
		j->unsure = true;
}

/* Alone it prints. */
void judge_env(struct judging *j)
{
	if (j->command->word_count > 1 || j->command->flags & SHELL_FLAG_APPENDED)
		j->unsure = true;
}

/* Names in small letters are none of the shell's own variables, but for these two. */
static bool is_plain_variable(const struct shell_word *word)
{
	if (word->dynamic || name_in(word->value, "histchars auto_resume"))
		return false;
	for (size_t i = 0; i < word->value.len; i++)
		if (!shell_is_name((unsigned char)word->value.data[i]) ||
		    (word->value.data[i] >= 'A' && word->value.data[i] <= 'Z'))
			return false;
	return word->value.len > 0;
}

void judge_read(struct judging *j)
{
	struct arguments arguments;
	enum argument_kind kind;

	judge_arguments_begin(&arguments, j, 1);
	while ((kind = judge_arguments_next(&arguments)) != ARGUMENT_END)
		if (kind == ARGUMENT_OPERAND &&
		    !is_plain_variable(&j->command->words[arguments.word]))
			j->unsure = true;
}

/* Unknown words may be -v and a name with a subscript, which is evaluated. */
void judge_test(struct judging *j)
{
	for (size_t i = 1; i < j->command->word_count; i++)
		if (j->command->words[i].splits)
			j->unsure = true;
	if (j->command->flags & SHELL_FLAG_APPENDED)
		j->unsure = true;
}

/* set -euo pipefail */
void judge_set(struct judging *j)
{
	for (size_t i = 1; i < j->command->word_count; i++) {
		const struct shell_word *word = &j->command->words[i];

		if (word->dynamic ||
		    !name_in(word->value, "-e -u -x -eu -ex -ux -eux -o -eo -euo -uo -exo -euxo "
		                          "+e +u +x -E -Eeuo pipefail errexit nounset xtrace"))
			j->unsure = true;
	}
}

/* ---- find ------------------------------------------------------------------------------------ */

/* By how many words each primary takes. */
static const char find_alone[] =
	"-H -L -P -a -and -o -or -not -d -depth -daystart -empty -executable -false -follow "
	"-ignore_readdir_race -noignore_readdir_race -ls -mount -nogroup -noleaf -nouser -nowarn "
	"-print -print0 -prune -quit -readable -true -warn -writable -xdev -version --version "
	"-help --help -O0 -O1 -O2 -O3 ( ) ! ,";
static const char find_with_value[] =
	"-D -amin -anewer -atime -cmin -cnewer -context -ctime -fstype -gid -group -ilname -iname "
	"-inum -ipath -iregex -iwholename -links -lname -maxdepth -mindepth -mmin -mtime -name "
	"-newer -newer?? -path -perm -printf -regex -regextype -samefile -size -type -uid -used "
	"-user -wholename -xtype -newerat -newermt -newerct -newerBt -neweraa -neweram -newermm "
	"-newerma -newermc";

/* After the command of -exec. */
static size_t skip_exec(struct judging *j, size_t i)
{
	const struct shell_command *command = j->command;
	size_t from = i;

	for (; i < command->word_count; i++) {
		const struct shell_word *word = &command->words[i];

		if (span_eq(word->value, SPAN(";")) ||
		    (span_eq(word->value, SPAN("+")) && i > from &&
		     span_eq(command->words[i - 1].value, SPAN("{}"))))
			return i + 1;
		if (word->dynamic && (word->splits || word->value.len == 0))
			j->unsure = true;
	}
	j->unsure = true;
	return i;
}

static size_t judge_primary(struct judging *j, size_t i)
{
	const struct shell_command *command = j->command;
	struct span name = command->words[i].value;
	const struct shell_word *next = i + 1 < command->word_count ? &command->words[i + 1] : NULL;
	char what[40];

	snprintf(what, sizeof(what), "action %.*s", (int)(name.len < 20 ? name.len : 20),
	         name.data);
	if (name_in(name, "-exec -execdir -ok -okdir"))
		return skip_exec(j, i + 1);
	if (span_eq(name, SPAN("-delete")))
		judge_note_effect(j, PROGRAM_DELETES, i, what, NULL);
	else if (name_in(name, "-fprint -fprint0 -fls -fprintf"))
		judge_note_effect(j, PROGRAM_WRITES, i, what, next);
	else if (!name_in(name, find_alone) && !name_in(name, find_with_value))
		j->unsure = true; /* its own start points or an unknown primary */
	if (span_eq(name, SPAN("-fprintf")))
		return i + 3;
	return i + 1 + (next && name_in(name, "-fprint -fprint0 -fls")) +
	       (next && name_in(name, find_with_value));
}

void judge_find(struct judging *j)
{
	const struct shell_command *command = j->command;

	for (size_t i = 1; i < command->word_count;) {
		const struct shell_word *word = &command->words[i];
		bool is_primary = word->value.len > 0 && strchr("-(!,)", word->value.data[0]);

		if (word->dynamic && !judge_is_operand(command, word))
			judge_note_unknown(j, i++, "argument");
		else if (is_primary && word->dynamic)
			judge_note_unknown(j, i++, "argument");
		else if (is_primary)
			i = judge_primary(j, i);
		else
			i++;
	}
	/* The value of a primary may have been one too: it is reported as what it looks
	 * like. */
	for (size_t i = 1; i < command->word_count; i++)
		if (command->words[i].splits && command->words[i].dynamic != SHELL_DYNAMIC_GLOB)
			judge_note_unknown(j, i, "argument");
	if (command->flags & SHELL_FLAG_APPENDED)
		judge_note_unknown(j, command->word_count, "input");
}
