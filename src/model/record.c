/* SPDX-License-Identifier: Apache-2.0 */
#include "model/record.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/door.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"

struct recording {
	pthread_mutex_t lock;
	char *file;  /* owned */
	int fd;      /* owned */
	bool failed; /* and told: nothing is written any more */
	void (*trouble)(void *data, const struct err *err);
	void *data;
};

static const char *const reasons[] = {
	[MODEL_FINISH_STOP] = "STOP",         [MODEL_FINISH_TOOLS] = "STOP",
	[MODEL_FINISH_LENGTH] = "MAX_TOKENS", [MODEL_FINISH_SAFETY] = "SAFETY",
	[MODEL_FINISH_OTHER] = "OTHER",       [MODEL_FINISH_PAUSE] = "OTHER",
};

static json_t *usage_of(const struct model_usage *usage)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "promptTokenCount",
	                 json_size(usage->input), "cachedContentTokenCount",
	                 json_size(usage->cached), "candidatesTokenCount", json_size(usage->output),
	                 "thoughtsTokenCount", json_size(usage->thoughts),
	                 "toolUsePromptTokenCount", json_size(usage->tool), "totalTokenCount",
	                 json_size(usage->total));
}

json_t *record_line(const struct model_reply *reply)
{
	json_t *candidate = json_pack("{s:O, s:s, s:i}", "content", reply->content, "finishReason",
	                              reasons[reply->finish], "index", 0);
	json_t *own = json_pack("{s:o, s:s, s:o}", "model", json_cstr(reply->model), "finish",
	                        model_finish_name(reply->finish), "cacheWritten",
	                        json_size(reply->usage.cache_written));

	if (reply->grounding)
		json_object_set(candidate, "groundingMetadata", reply->grounding);
	if (reply->finish_text)
		json_object_set_new(own, "word", json_cstr(reply->finish_text));
	return json_pack("{s:s, s:[{s:[o], s:o, s:o}]}", "method", "generateContentStream",
	                 "response", "candidates", candidate, "usageMetadata",
	                 usage_of(&reply->usage), "hasp", own);
}

bool recording_open(const char *file, const char *const *roots,
                    void (*trouble)(void *data, const struct err *err), void *data,
                    struct recording **ret, struct err *err)
{
	_cleanup_door_ struct door door = DOOR_INIT;
	struct err why = ERR_INIT;
	_cleanup_fd_ int fd = door_open(file, roots, &door, &why) ?
	                              door_append(&door, 0600, &why) : -1;

	if (fd < 0)
		return err_set(err, why.code, "The answers cannot be recorded: %s", why.message);
	*ret = mem_alloc(1, sizeof(**ret));
	**ret = (struct recording){ .file = mem_strdup(file), .fd = fd_steal(&fd),
		                    .trouble = trouble, .data = data };
	pthread_mutex_init(&(*ret)->lock, NULL);
	return true;
}

void recording_close(struct recording *recording)
{
	if (!recording)
		return;
	close(recording->fd);
	free(recording->file);
	pthread_mutex_destroy(&recording->lock);
	free(recording);
}

/* Nothing of half a line stays where the file can be cut; elsewhere it is ended. */
static bool write_line(const struct recording *recording, struct span line, struct err *err)
{
	const off_t size = lseek(recording->fd, 0, SEEK_END);

	if (fd_write_all(recording->fd, line.data, line.len))
		return true;
	err_set_errno(err, errno, "Answers are no longer recorded in %s", recording->file);
	if (size < 0 || ftruncate(recording->fd, size) < 0)
		fd_write_all(recording->fd, "\n", 1);
	return false;
}

static bool write_reply(const struct recording *recording, const struct model_reply *reply,
                        struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4 * LIMIT_MODEL_REPLY_BYTES);
	json_auto_t *line = record_line(reply);

	if (json_print(&text, line, 0) && buf_char(&text, '\n'))
		return write_line(recording, buf_view(&text), err);
	return err_set(err, ERR_TOO_LARGE,
	               "Answers are no longer recorded in %s: one is too large.", recording->file);
}

void recording_add(struct recording *recording, const struct model_reply *reply)
{
	struct err err = ERR_INIT;

	if (!recording)
		return;
	pthread_mutex_lock(&recording->lock);
	if (!recording->failed && !write_reply(recording, reply, &err)) {
		recording->failed = true;
		if (recording->trouble)
			recording->trouble(recording->data, &err);
	}
	pthread_mutex_unlock(&recording->lock);
}
