/* SPDX-License-Identifier: Apache-2.0 */
/* /directory: the folders of the workspace, and one more. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "front/command/private.h"
#include "worker/provider.h"

/* As it is typed in a shell: "~" is the home, a relative path begins in the project. The caller
 * frees. */
static char *folder_meant(struct command_call *call, struct span text)
{
	const struct home *home = settings_home(call->context->settings);
	struct provider *provider = host_facts(call->context->host).provider;
	_cleanup_free_ char *word = mem_dup(text.data, text.len);
	const bool of_home = *word == '~' && (!word[1] || word[1] == '/');

	if (of_home && home)
		return mem_printf("%s%s", home_user(home), word + 1);
	return *word == '/' ? mem_strdup(word) :
	                      path_join(provider->ops->root(provider, 0), word);
}

/* The folder's canonical name, which the caller frees; NULL: the call has failed. */
static char *folder_checked(struct command_call *call, struct span text)
{
	struct provider *provider = host_facts(call->context->host).provider;
	_cleanup_free_ char *meant = folder_meant(call, text);
	_cleanup_free_ char *path = realpath(meant, NULL);
	struct stat status;
	const char *root;

	if (!path) {
		command_fail(call, "%s: %s.", meant, strerror(errno));
		return NULL;
	}
	if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode)) {
		command_fail(call, "%s is not a folder.", path);
		return NULL;
	}
	if (!strcmp(path, "/")) {
		command_fail(call, "/ cannot be a folder of the workspace: name a folder in it.");
		return NULL;
	}
	for (size_t i = 0; (root = provider->ops->root(provider, i)); i++)
		if (path_is_under(path, root)) {
			command_fail(call, "%s is in the workspace already: it is in %s.", path,
			             root);
			return NULL;
		}
	return mem_steal(&path);
}

/* One folder, or several with commas between them; a name with a comma is one if it exists. */
static bool folders_read(struct command_call *call, struct span text, struct buf *out)
{
	_cleanup_free_ char *whole = folder_meant(call, text);
	struct stat status;

	while ((text = span_trim(text)).len) {
		const char *comma = stat(whole, &status) == 0 ? NULL :
		                                                memchr(text.data, ',', text.len);
		const size_t len = comma ? (size_t)(comma - text.data) : text.len;
		_cleanup_free_ char *path = folder_checked(call, span_trim(span_head(text, len)));

		if (!path)
			return false;
		buf_printf(out, "%s\n", path);
		text = span_skip(text, len + (comma ? 1 : 0));
	}
	return true;
}

static void folders_add(struct command_call *call, struct span text)
{
	_cleanup_buf_ struct buf folders = BUF_INIT(LIMIT_MESSAGE_BYTES);
	const size_t jobs = command_jobs_running(call);
	json_auto_t *allowed = NULL;
	size_t len;

	if (!call->context->local || !(call->context->can & 1u << COMMAND_REOPEN)) {
		command_fail(call, "This session's folders are fixed when it starts. Quit, and "
		             "run: hasp --resume latest --include-directories %.*s", (int)text.len,
		             text.data);
		return;
	}
	if (jobs) {
		command_fail(call, "%zu command%s in the background would end: adding a folder "
		             "opens the session again. /tasks shows and ends them.", jobs,
		             jobs == 1 ? "" : "s");
		return;
	}
	if (!folders_read(call, text, &folders))
		return;
	allowed = host_allowed(call->context->host);
	len = folders.len - 1;
	call->result->shown = mem_printf(
		"In the workspace now: %.*s%s", (int)len, folders.data, json_array_size(allowed) ?
		"\nWhat you allowed for this session is asked about again." : "");
	command_then(call, COMMAND_REOPEN, buf_steal(&folders));
}

void command_directory(struct command_call *call)
{
	struct provider *provider = host_facts(call->context->host).provider;
	const struct span word = command_word(&call->arguments);
	const char *root;

	if (command_word_is(word, "add")) {
		folders_add(call, call->arguments);
		return;
	}
	command_heading(call, "Folders of the workspace");
	for (size_t i = 0; (root = provider->ops->root(provider, i)); i++)
		command_say(call, STYLE(ROLE_TEXT), "  %s", root);
}

bool command_directory_works(struct span arguments)
{
	return command_word_is(command_word(&arguments), "add");
}
