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
 *     stage_adopt(stage, ...) after it was taken back
 *
 * When nobody waits, nothing is to be done.  Otherwise the waiting ones have our file already, and
 * will go on with it: so it is given the content and attributes that the name has now, and then
 * the name, while they wait.  The lease ends when the stage is released.
 *
 * An opener with O_NONBLOCK does not wait, but gets EAGAIN. Internal to store/.
 */
#ifndef HASP_STORE_ADOPT_H
#define HASP_STORE_ADOPT_H

#include "store/stage.h"

/* Makes openers of the new file wait, where the file system can. */
void stage_guard(struct stage *stage);

/* True when somebody waited and our file has taken over the name: `name` then has the
 * stranger's file, whose content ours now has, and the stage is used up.  Waits until
 * `deadline_us` (CLOCK_MONOTONIC) for those who have the stranger's file open for writing. */
bool stage_adopt(struct stage *stage, long long deadline_us);

/* Before the last look at the old file: gives time to those who have found it by its name and
 * not yet come to the point of opening it where the lease shows them.  That takes
 * a fraction of a microsecond, unless they are interrupted just there; then they wait for a
 * processor, and giving ours up helps. A file that somebody has changed within the last two
 * seconds, in place or by whatever means, has others at work: for it we sleep
 * (true). */
bool stage_linger(const struct snapshot *base);

#endif
