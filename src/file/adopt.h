/* SPDX-License-Identifier: Apache-2.0 */
/* Those who open a file in the microseconds in which it is being tried out.
 *
 * Between the exchange of the names and its verification, everybody who opens the file gets the
 * new one.  If it then has to be taken back, because a stranger's rename came between
 * comparing and exchanging, what such a writer writes would be lost with it, and
 * such a reader would have read what never was.  So the new file has a lease of its own
 * during that time, which makes every opener wait (lease.h; this one is for writing, so
 * it is refused to readers too):
 *
 *     stage_guard(stage)      before the exchange
 *     stage_leave(stage, ...) after it was taken back for good
 *
 * Those who wait have our file already, and will go on with it: so it is given the content
 * and attributes that the name has now, and then the name, while they wait.
 *
 * Who has looked our file up by its name, and is interrupted before the kernel counts it as opened,
 * cannot be seen.  So the lease ends only after some time, and before that our file gets the
 * content of the name in any case: then who still comes later reads what the name had when ours
 * was taken back, and never what we had wanted to write.  (If they write in place, that is lost.)
 *
 * An opener with O_NONBLOCK does not wait, but gets EAGAIN. Internal to file/.
 */
#ifndef HASP_FILE_ADOPT_H
#define HASP_FILE_ADOPT_H

#include "file/stage.h"

/* Makes openers of the new file wait, where the file system can. */
void stage_guard(struct stage *stage);

/* Whether somebody waits for the new file (or has it open). */
bool stage_awaited(const struct stage *stage);

/* Ends what stage_guard began, for a new file that was taken back and will not be tried again:
 * `name` goes, and the stage is used up.  Waits until `deadline_us` (CLOCK_MONOTONIC) for those who
 * have the stranger's file open for writing, when somebody waits for ours.  To be called with the
 * folder locked. */
void stage_leave(struct stage *stage, long long deadline_us);

/* Before the last look at the old file: gives time to those who have found it by its name and
 * not yet come to the point of opening it where the lease shows them.  That takes
 * a fraction of a microsecond, unless they are interrupted just there; then they wait for a
 * processor, and giving ours up helps. A file that somebody else has changed within the last two
 * seconds, in place or by whatever means, has others at work: for it we sleep
 * (true).  What this workspace's own last commit changed does not count (folder_cache.h), but
 * others' changes before it do. */
bool stage_grace(const struct snapshot *base);

/* After the last look, while the new file's lease is still held: what it is now is our doing
 * alone. */
void stage_note(const struct stage *stage, const struct snapshot *base);

#endif
