/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: what the files of checkpoints share. */
#ifndef HASP_AGENT_CHECKPOINT_PRIVATE_H
#define HASP_AGENT_CHECKPOINT_PRIVATE_H

#include <pthread.h>

#include "agent/checkpoint/checkpoint.h"
#include "agent/checkpoint/note.h"

struct checkpoints {
	struct checkpoints_options options; /* session_id owned */
	pthread_mutex_t lock;          /* of all below, and of the home */
	struct repository *repository; /* NULL: not opened yet */
	char *notes, *history;         /* folders; NULL likewise */
	json_t *pending;               /* calls that are kept and have no result yet: id to true */
	int64_t last_ms;               /* of the newest note of this process */
	bool ledger_begun;
};

/* What one checkpoint is about. */
struct keeping {
	const char *session, *call_id, *tool;
	json_t *call;        /* Gemini CLI's toolCall; or NULL */
	const json_t *paths; /* array of strings, absolute */
};

/* Finds (create: makes) folders. FILE_NOT_FOUND when there are none yet. Under the lock. */
bool checkpoints_find(struct checkpoints *checkpoints, bool create, struct err *err);
/* And the repository. Likewise. */
bool checkpoints_reach(struct checkpoints *checkpoints, bool create, struct err *err);
/* Keeps the files; *ret_id for the caller, NULL when there was nothing to keep. Takes the lock. */
bool checkpoints_keep(struct checkpoints *checkpoints, const struct keeping *keeping, char **ret_id,
                      struct err *err);
/* Writes a state that an edit (or a restore) made into the ledger. Takes the lock. */
bool checkpoints_wrote(struct checkpoints *checkpoints, const char *session, const char *path,
                       const struct sha256 *sha256, struct err *err);
/* The ledger's file, read; for the caller to free. */
bool checkpoints_ledger(struct checkpoints *checkpoints, const char *session, struct ledger **ret,
                        struct err *err);
/* All of a file, by the provider; `ret` is always to be released. */
bool checkpoints_read(struct checkpoints *checkpoints, const char *path, struct read_result *ret,
                      struct err *err);

#endif
