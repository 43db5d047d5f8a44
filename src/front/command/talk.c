/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about the conversation. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/content.h"
#include "front/command/private.h"

void command_compress(struct command_call *call)
{
	struct err err = ERR_INIT;

	if (!host_compress(call->context->host, &err))
		command_fail(call, "%s", err.message);
	else if (!(call->context->can & 1u << COMMAND_REFRESH)) /* a screen shows its figures */
		command_say(call, STYLE(ROLE_TEXT), "The conversation is a summary now.");
}

/* Of the newest message of the model with words; the caller frees; NULL: there is none. */
static char *last_answer(const struct host *host)
{
	const json_t *history = agent_history(host_facts(host).agent);

	for (size_t i = json_array_size(history); i-- > 0;) {
		const json_t *content = json_array_get(history, i);
		_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES);

		if (content_is_user(content))
			continue;
		content_text(content, &text);
		if (text.len)
			return buf_steal(&text);
	}
	return NULL;
}

void command_copy(struct command_call *call)
{
	char *text = call->context->busy ? NULL : last_answer(call->context->host);

	if (text)
		command_then(call, COMMAND_COPY, text);
	else
		command_fail(call, call->context->busy ? "The answer is not there yet." :
		             "There is no answer yet.");
}

/* ---- init ------------------------------------------------------------------------ */

static const char init_prompt[] =
	"Create GEMINI.md in the root of this project. It is the context file that coding agents, "
	"you included, load at the start of every session here.\n\n"
	"Explore first: list the root directory, then read the README and the files that describe "
	"the project and its build (at most ten; let what you find decide what you read next, and "
	"do not read everything). Then write GEMINI.md in Markdown, at most 150 lines, covering:"
	"\n\n"
	"- the project's purpose, languages and main parts, and where each part lives;\n"
	"- the commands to build, run, test and lint it, as its own files give them; if you cannot "
	"find one, say so rather than guess;\n"
	"- coding and contribution conventions that you saw evidence of;\n"
	"- anything surprising that would cost the next reader time.\n\n"
	"If the folder holds notes or data instead of code, describe the contents and their "
	"purpose. Leave out anything that every agent knows already.";

void command_init(struct command_call *call)
{
	struct provider *provider = host_facts(call->context->host).provider;
	_cleanup_free_ char *path = mem_printf("%s/GEMINI.md", provider->ops->root(provider, 0));

	if (call->context->local && access(path, F_OK) == 0) {
		command_fail(call, "There is a GEMINI.md already; it stays as it is.");
		return;
	}
	command_ask(call, mem_strdup(init_prompt), mem_strdup("/init"));
}

/* ---- plan ------------------------------------------------------------------------ */

/* Plans are *.md files of the session's folder; the newest is the one. NULL: none. */
static char *newest_plan(const struct host *host)
{
	const char *folder = host_facts(host).plans_folder;
	const int opened = folder ? door_folder(folder, folder) : -1;
	DIR *entries = opened >= 0 ? fdopendir(opened) : NULL;
	struct timespec newest = { 0 };
	const struct dirent *entry;
	char *path = NULL;
	struct stat status;

	while (entries && (entry = readdir(entries))) {
		if (!span_ends(span_str(entry->d_name), SPAN(".md")) ||
		    fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
		    !S_ISREG(status.st_mode) || status.st_mtim.tv_sec < newest.tv_sec ||
		    (status.st_mtim.tv_sec == newest.tv_sec &&
		     status.st_mtim.tv_nsec < newest.tv_nsec))
			continue;
		newest = status.st_mtim;
		free(path);
		path = mem_printf("%s/%s", folder, entry->d_name);
	}
	if (entries)
		closedir(entries);
	else if (opened >= 0)
		close(opened);
	return path;
}

static bool read_newest_plan(const struct host *host, struct file_text *ret, struct err *err)
{
	_cleanup_free_ char *path = newest_plan(host);

	if (!path)
		return err_set(err, ERR_FILE_NOT_FOUND, "There is no plan yet.");
	return door_read(host_facts(host).plans_folder, path, LIMIT_MESSAGE_BYTES, ret, err);
}

void command_plan(struct command_call *call)
{
	struct host *host = call->context->host;
	struct span word = command_word(&call->arguments);
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err err = ERR_INIT;
	const bool there = read_newest_plan(host, &text, &err);

	if (command_word_is(word, "copy")) {
		if (there)
			command_then(call, COMMAND_COPY, mem_dup(text.data, text.len));
		else
			command_fail(call, "%s", err.message);
		return;
	}
	if (command_word_is(word, "edit")) {
		if (there)
			command_then(call, COMMAND_EDIT, newest_plan(host));
		else
			command_fail(call, "%s", err.message);
		return;
	}
	if (!host_facts(host).plans_folder) {
		command_fail(call, "Plan mode is off (general.plan.enabled).");
		return;
	}
	if (agent_mode(host_facts(host).agent) != MODE_PLAN) {
		agent_set_mode(host_facts(host).agent, MODE_PLAN);
		command_say(call, STYLE(ROLE_TEXT), "Plan mode: nothing is changed until a plan is "
		            "approved.");
	}
	if (there) {
		command_text(call, STYLE(ROLE_TEXT), file_text_span(&text));
		call->result->pager = true;
	}
}

/* ---- quit, shortcuts ------------------------------------------------------------- */

void command_quit(struct command_call *call)
{
	command_then(call, COMMAND_QUIT, call->arguments.len ? mem_strdup("delete") : NULL);
}

void command_shortcuts(struct command_call *call)
{
	command_then(call, COMMAND_SHORTCUTS, NULL);
}
