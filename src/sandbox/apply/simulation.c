/* SPDX-License-Identifier: Apache-2.0 */
/* What tests take away of the kernel: nothing, in every program that is installed.  Alone in its
 * file, so that a test's program that has this function itself (test/simulate/) is linked without
 * it. */
#include "sandbox/apply/probe.h"

const char *sandbox_simulation(void)
{
	return NULL;
}
