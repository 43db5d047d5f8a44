/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of Responses. */
#include "model_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return answer_fuzz(&format_openai_responses, data, size);
}
