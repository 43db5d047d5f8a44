/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of Messages. */
#include "model_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return answer_fuzz(&format_anthropic, data, size);
}
