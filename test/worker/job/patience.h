/* SPDX-License-Identifier: Apache-2.0 */
/* How long tests wait for what must come, however busy the machine; what must not last lasts longer. */
#ifndef HASP_TEST_JOB_PATIENCE_H
#define HASP_TEST_JOB_PATIENCE_H

enum { PATIENCE_MS = 120000 };

#endif
