/* SPDX-License-Identifier: Apache-2.0 */
/* Settings that are hasp's own. */
#include "config/schema_rows.h"

static const char rows[] =
	INTEGER("hasp.checkpoints.keepDays", "0",
	        "Remove checkpoints of files that are older than so many days when a session begins; 0: "
	        "none is removed. See docs/checkpoints.md.",
	        NEVER)
	INTEGER("hasp.contextTokens", "0",
	        "How many tokens a conversation with a model may have, when its provider says otherwise or "
	        "nothing; 0: see docs/models.md.")
	BOOLEAN("hasp.diffAfterEdit", "true",
	        "Answer an edit of a large file with a diff while the model has the rest in view.")
	CHOICE("hasp.durability", "\"full\"", "full|rename",
	       "How safe a written file is when the call returns: synced to the disk, or replaced "
	       "atomically and left to the kernel to write out.")
	INTEGER("hasp.endSeconds", "30",
	        "After SIGINT, SIGTERM or SIGHUP so many seconds are left to put all in order: to end "
	        "commands, run SessionEnd hooks, finish the record. Then the program ends as it is. 1 to "
	        "600.",
	        NEVER)
	STRINGS("hasp.fallbacks", "[]",
	        "Models that answer, in this order, when the quota of the chosen one is used up or it "
	        "stays overloaded. See docs/models.md.",
	        ASK)
	BOOLEAN("hasp.keyStore", "true",
	        "Ask the system's key store for a key that no variable holds.",
	        ONLY_FALSE)
	OBJECT("hasp.providers", "{}",
	       "Providers of models by name, for --model NAME/MODEL. See docs/models.md.",
	       ASK)
	CHOICE("hasp.returnContent", "\"full\"", "full|diff|none",
	       "What the answer to an edit carries of the file's new state.")
	CHOICE("hasp.sandbox.level", "\"auto\"", "auto|full|landlock|paths",
	       "How tools and commands are confined: the strongest level that the machine allows, or "
	       "exactly this one and an error where it cannot be had.",
	       NEVER)
	BOOLEAN("hasp.trimSuperseded", "true",
	        "At a compaction, keep the full content of a file's newest version only; older ones are "
	        "replaced by a note.")
	INTEGER("hasp.waits.connectSeconds", "30",
	        "The longest that a connection to a model's server may take. 1 to 300.")
	INTEGER("hasp.waits.idleSeconds", "300",
	        "The longest that a model's server may send nothing at all, before and in its reply. 10 to "
	        "3,600.")
	INTEGER("hasp.waits.lockSeconds", "10",
	        "The longest wait for a file of the home folder that another hasp has locked. 1 to 300.")
	INTEGER("hasp.waits.pingSeconds", "900",
	        "The longest that it may send comments and pings alone. 10 to 7,200.")
	INTEGER("hasp.waits.replySeconds", "3600",
	        "The longest that one reply may take from the request to its end. 60 to 86,400.")
	STRINGS("hasp.withoutParameters", "[]",
	        "Parameters that are left out of requests to models, such as reasoning.summary. "
	        "docs/models.md lists them.");

const struct setting_group schema_hasp = { rows, sizeof(rows) - 1 };
