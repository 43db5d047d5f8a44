/* SPDX-License-Identifier: Apache-2.0 */
/* Predicts from a command's words what the sandbox would deny it: the targets of redirections and
 * of the usual programs, hidden paths, programs that need the network. */
#include <stdlib.h>
#include <string.h>

#include "agent/call/call.h"
#include "base/mem.h"
#include "data/json.h"
#include "shell/analysis.h"
#include "tool/denial.h"

enum { USES_MAX = 64, OFFLINE_BYTES = 1024 };

struct foresight {
	struct denial_use uses[USES_MAX]; /* paths are owned */
	size_t count;
	bool moves;            /* a cd is in it: only absolute paths are known */
	struct buf offline;    /* names of programs that need the network */
};

/* ---- words ------------------------------------------------------------------------- */

/* The path that a word is; NULL: that is known only when it runs. The caller frees. */
static char *known_path(const struct foresight *foresight, const struct shell_word *word)
{
	const char *home = getenv("HOME");
	struct span raw = word->raw;

	if (word->dynamic == SHELL_DYNAMIC_TILDE && home && span_starts(raw, SPAN("~/")) &&
	    !memchr(raw.data, '\'', raw.len) && !memchr(raw.data, '"', raw.len) &&
	    !memchr(raw.data, '\\', raw.len))
		return mem_printf("%s/%.*s", home, (int)raw.len - 2, raw.data + 2);
	if (word->dynamic || !word->value.len || memchr(word->value.data, 0, word->value.len) ||
	    (foresight->moves && word->value.data[0] != '/'))
		return NULL;
	return mem_dup(word->value.data, word->value.len);
}

static void foresee_program(struct foresight *foresight, const char *program)
{
	struct buf *names = &foresight->offline;

	if (!names->len || !strstr(names->data, program))
		buf_printf(names, "%s%s", names->len ? ", " : "", program);
}

static void foresee_use(struct foresight *foresight, const struct shell_word *word, bool writes)
{
	char *path = foresight->count < USES_MAX ? known_path(foresight, word) : NULL;

	if (path && (!strncmp(path, "/dev/tcp/", 9) || !strncmp(path, "/dev/udp/", 9))) {
		foresee_program(foresight, "bash"); /* connects, and opens no file */
		free(path);
	} else if (path)
		foresight->uses[foresight->count++] = (struct denial_use){ path, writes };
}

static void foresee_redirects(struct foresight *foresight, const struct shell_redirect *redirects,
                              size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (redirects[i].writes_file)
			foresee_use(foresight, &redirects[i].target, true);
		else if (redirects[i].kind == SHELL_REDIRECT_READ)
			foresee_use(foresight, &redirects[i].target, false);
	}
}

/* ---- programs ---------------------------------------------------------------------- */

static struct span foreseen_program(const struct shell_command *command)
{
	struct span name = { 0 };

	if (!command->word_count || command->words[0].dynamic)
		return name;
	name = command->words[0].value;
	for (size_t i = name.len; i > 0; i--)
		if (name.data[i - 1] == '/')
			return span_skip(name, i);
	return name;
}

static bool is_dashed(const struct shell_word *word)
{
	return span_starts(word->raw, SPAN("-"));
}

/* What these write is what they are there for; the value of an option that is taken for a name lies
 * in the workspace, where it does no harm. */
static void foresee_operands(struct foresight *foresight, const struct shell_command *command)
{
	static const struct {
		const char *program;
		bool last; /* of its operands, that alone */
	} writers[] = {
		{ "touch", false }, { "mkdir", false }, { "rm", false }, { "rmdir", false },
		{ "tee", false }, { "truncate", false }, { "mv", false }, { "unlink", false },
		{ "cp", true }, { "ln", true }, { "install", true },
	};
	struct span name = foreseen_program(command);
	size_t i = 0;

	while (i < ARRAY_LEN(writers) && !span_eq(name, span_str(writers[i].program)))
		i++;
	for (size_t k = 1; k < command->word_count; k++) {
		const struct shell_word *word = &command->words[k];

		if (is_dashed(word))
			continue;
		if (i < ARRAY_LEN(writers) && (!writers[i].last || k + 1 == command->word_count))
			foresee_use(foresight, word, true);
		else if (!span_eq(name, SPAN("echo")) && !span_eq(name, SPAN("printf")) &&
		         memchr(word->raw.data, '/', word->raw.len))
			foresee_use(foresight, word, false);
	}
}

/* Whether the first operand is one of these words; NULL: whatever it is. */
static bool foreseen_verb(const struct shell_command *command, const char *verbs)
{
	size_t k = 1;
	struct span rest = span_str(verbs ? verbs : ""), verb;

	while (k < command->word_count && is_dashed(&command->words[k]))
		k++;
	if (!verbs || k == command->word_count || command->words[k].dynamic)
		return !verbs;
	verb = command->words[k].value;
	while (rest.len) {
		size_t len = strcspn(rest.data, " ");

		if (span_eq(verb, span_head(rest, len)))
			return true;
		rest = span_skip(rest, len + (len < rest.len));
	}
	return false;
}

static void foresee_network(struct foresight *foresight, const struct shell_command *command)
{
	static const struct {
		const char *program, *verbs;
	} online[] = {
		{ "curl", NULL }, { "wget", NULL }, { "ssh", NULL }, { "scp", NULL },
		{ "sftp", NULL }, { "ping", NULL }, { "dig", NULL }, { "nslookup", NULL },
		{ "telnet", NULL }, { "ftp", NULL },
		{ "git", "clone fetch pull push ls-remote" },
		{ "npm", "install i ci add update publish" },
		{ "pnpm", "install i add update publish" }, { "yarn", "install add upgrade" },
		{ "bun", "install i add update publish" },
		{ "pip", "install download" }, { "pip3", "install download" },
		{ "cargo", "install fetch update publish" }, { "go", "get install" },
		{ "apt", "install update upgrade" }, { "apt-get", "install update upgrade" },
		{ "dnf", "install update upgrade" }, { "brew", "install update upgrade" },
	};
	struct span name = foreseen_program(command);

	for (size_t i = 0; i < ARRAY_LEN(online); i++)
		if (span_eq(name, span_str(online[i].program)) &&
		    foreseen_verb(command, online[i].verbs))
			foresee_program(foresight, online[i].program);
}

static void foresee_command(struct foresight *foresight, const struct shell_command *command)
{
	foresee_redirects(foresight, command->redirects, command->redirect_count);
	if (command->flags & (SHELL_FLAG_REMOTE | SHELL_FLAG_TEST))
		return; /* its paths are another machine's, or nothing is run */
	foresee_operands(foresight, command);
	foresee_network(foresight, command);
}

/* ---- the list ---------------------------------------------------------------------- */

static bool is_cd(const struct shell_command *command)
{
	struct span name = foreseen_program(command);

	return span_eq(name, SPAN("cd")) || span_eq(name, SPAN("pushd")) ||
	       span_eq(name, SPAN("popd"));
}

static void foresee_all(struct foresight *foresight, const struct shell_analysis *analysis)
{
	for (size_t i = 0; i < analysis->command_count; i++)
		foresight->moves |= is_cd(&analysis->commands[i]);
	foresee_redirects(foresight, analysis->redirects, analysis->redirect_count);
	for (size_t i = 0; i < analysis->command_count; i++)
		foresee_command(foresight, &analysis->commands[i]);
}

static void add_offline(json_t *list, const char *programs)
{
	json_t *item = json_object();

	json_object_set_new(item, "kind", json_string("network"));
	json_object_set_new(item, "what", json_string(programs));
	json_object_set_new(item, "message",
	                    json_pack("s++", "the network, which is off, to ", programs,
	                              ". To allow: --net"));
	json_array_append_new(list, item);
}

json_t *foreseen_denials(const struct call *call, const struct shell_analysis *analysis,
                         const json_t *arguments, json_t **ret_confinement)
{
	struct foresight foresight = { .offline = BUF_INIT(OFFLINE_BYTES) };
	json_t *list;

	*ret_confinement = NULL;
	foresee_all(&foresight, analysis);
	list = denial_foresee(&call->session, arguments, foresight.uses, foresight.count,
	                      ret_confinement);
	if (list && json_is_false(json_object_get(*ret_confinement, "network")) &&
	    foresight.offline.len)
		add_offline(list, foresight.offline.data);
	for (size_t i = 0; i < foresight.count; i++)
		free((char *)foresight.uses[i].path);
	buf_release(&foresight.offline);
	if (json_array_size(list))
		return list;
	json_decref(list);
	return NULL;
}
