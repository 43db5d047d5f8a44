/* SPDX-License-Identifier: Apache-2.0 */
#include "model/record.h"

#include <errno.h>
#include <fcntl.h>

#include "base/fd.h"
#include "base/limits.h"
#include "data/json.h"

static const char *const reasons[] = {
	[MODEL_FINISH_STOP] = "STOP",         [MODEL_FINISH_TOOLS] = "STOP",
	[MODEL_FINISH_LENGTH] = "MAX_TOKENS", [MODEL_FINISH_SAFETY] = "SAFETY",
	[MODEL_FINISH_OTHER] = "OTHER",
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

bool record_reply(const char *file, const struct model_reply *reply, struct err *err)
{
	_cleanup_fd_ int fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	_cleanup_buf_ struct buf text = BUF_INIT(4 * LIMIT_MODEL_REPLY_BYTES);
	json_t *line;
	bool ok;

	if (fd < 0)
		return err_set_errno(err, errno, "Cannot open %s to record the answer", file);
	line = record_line(reply);
	ok = json_print(&text, line, 0) && buf_char(&text, '\n');
	json_decref(line);
	if (!ok)
		return err_set(err, ERR_INTERNAL, "The answer is too large to be recorded.");
	return fd_write_all(fd, text.data, text.len) ||
	       err_set_errno(err, errno, "Cannot record the answer in %s", file);
}
