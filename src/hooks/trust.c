/* SPDX-License-Identifier: Apache-2.0 */
/* Which of a project's hooks the user has seen and trusted: Gemini CLI's trusted_hooks.json,
 *
 *     {"/the/project": ["name:command", ...], ...}
 *
 * There a new hook warns once and runs; here it runs after it was trusted, and not before. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/json.h"
#include "hooks/hook.h"

enum { TRUST_BYTES_MAX = 4 << 20, DEPTH_MAX = 8 };

/* {} when there is none; NULL: it cannot be read. *err does not name the file. */
static json_t *read_all(const struct hooks *hooks, struct err *err)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	json_t *all = NULL;

	if (hooks->trust_file && !file_read(hooks->trust_file, TRUST_BYTES_MAX, &text, err))
		return NULL;
	if (!text.data)
		return json_object();
	if (!json_parse_depth(file_text_span(&text), DEPTH_MAX, &all, err))
		return NULL;
	if (json_is_object(all))
		return all;
	json_decref(all);
	err_set(err, ERR_INVALID_ARGUMENT, "It holds no object.");
	return NULL;
}

static bool lists(const json_t *keys, const char *key)
{
	size_t i;
	json_t *entry;

	json_array_foreach(keys, i, entry)
		if (json_is_string(entry) && strcmp(json_string_value(entry), key) == 0)
			return true;
	return false;
}

static void each_of_project(const struct hooks *hooks,
                            void (*use)(struct hook *hook, const char *key, void *data), void *data)
{
	for (size_t i = 0; i < hooks->count; i++)
		for (size_t j = 0; j < hooks->groups[i].count; j++) {
			struct hook *hook = &hooks->groups[i].hooks[j];
			_cleanup_free_ char *key = hook_key(hook);

			if (hook->source == HOOK_SOURCE_PROJECT)
				use(hook, key, data);
		}
}

static void mark(struct hook *hook, const char *key, void *data)
{
	hook->trusted = lists(data, key);
}

static bool is_told(const json_t *problems, const char *where)
{
	size_t i;
	json_t *problem;

	json_array_foreach(problems, i, problem)
		if (strcmp(json_string_value(json_object_get(problem, "source")), where) == 0)
			return true;
	return false;
}

void hooks_read_trust(struct hooks *hooks, json_t *problems)
{
	struct err err = ERR_INIT;
	json_auto_t *all = read_all(hooks, &err);

	if (!all && !is_told(problems, hooks->trust_file))
		hooks_problem(problems, hooks->trust_file,
		              "it cannot be read, and no hook of the project counts as trusted. %s",
		              err.message);
	each_of_project(hooks, mark, json_object_get(all, hooks->project ? hooks->project : ""));
}

static void add_untrusted(struct hook *hook, const char *key, void *data)
{
	if (!hook->trusted && !lists(data, key))
		json_array_append_new(data, json_text(span_str(key)));
}

json_t *hooks_untrusted(const struct hooks *hooks)
{
	json_t *untrusted = json_array();

	if (hooks->project_trusted && hooks->enabled)
		each_of_project(hooks, add_untrusted, untrusted);
	return untrusted;
}

static void add_missing(struct hook *hook, const char *key, void *data)
{
	hook->trusted = true;
	if (!lists(data, key))
		json_array_append_new(data, json_text(span_str(key)));
}

static bool write_all(const char *path, const json_t *all, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(TRUST_BYTES_MAX);

	if (!json_print(&text, all, 2) || !buf_char(&text, '\n'))
		return err_set(err, ERR_TOO_LARGE, "%s would be longer than %d bytes.", path,
		               TRUST_BYTES_MAX);
	return file_replace(path, buf_view(&text), 0600, err);
}

/* Under the lock: of two that trust at once, the second adds to what the first wrote. */
static bool add_to_file(struct hooks *hooks, struct err *err)
{
	struct err why = ERR_INIT;
	json_auto_t *all = NULL;
	json_t *keys;

	all = read_all(hooks, &why);
	if (!all)
		return err_set(err, why.code, "%s: it cannot be read, and so not be added to. %s",
		               hooks->trust_file, why.message);
	keys = json_object_get(all, hooks->project);
	if (!json_is_array(keys)) {
		keys = json_array();
		json_object_set_new(all, hooks->project, keys);
	}
	each_of_project(hooks, add_missing, keys);
	return write_all(hooks->trust_file, all, err);
}

bool hooks_trust(struct hooks *hooks, const struct flock_wait *wait, struct err *err)
{
	_cleanup_free_ char *folder = NULL;
	_cleanup_fd_ int lock = -1;

	if (!hooks->trust_file || !hooks->project)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "There is no home folder to remember trusted hooks in.");
	folder = path_folder(hooks->trust_file);
	if (!file_make_folders(folder, err))
		return false;
	lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0)
		return err_set_errno(err, errno, "%s cannot be locked", folder);
	return flock_take(lock, folder, wait, err) && add_to_file(hooks, err);
}
