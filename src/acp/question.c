/* SPDX-License-Identifier: Apache-2.0 */
/* Questions that are open, and their answers on the bus: every one gets one, and if nothing else
 * comes it is no. */
#include <stdlib.h>
#include <string.h>

#include "acp/private.h"
#include "base/mem.h"
#include "data/json.h"

struct acp_question *acp_question_new(struct acp_session *session, enum bus_topic topic,
                                      const json_t *message)
{
	struct acp_question *question = mem_alloc(1, sizeof(*question));

	*question = (struct acp_question){ .next = session->questions, .session = session,
		                           .topic = topic,
		                           .message = json_incref((json_t *)message) };
	session->questions = question;
	return question;
}

static void acp_question_free(struct acp_question *question)
{
	for (struct acp_question **link = &question->session->questions; *link;
	     link = &(*link)->next)
		if (*link == question) {
			*link = question->next;
			break;
		}
	json_decref(question->message);
	free(question);
}

void acp_question_answer(struct acp_question *question, json_t *answer)
{
	struct err err = ERR_INIT;

	json_object_set(answer, "correlationId",
	                json_object_get(question->message, "correlationId"));
	/* Else it was withdrawn meanwhile. */
	if (!front_answer(question->session->front, bus_topic_answer(question->topic), answer,
	                  &err) && err.code == ERR_PERMISSION_DENIED) {
		json_auto_t *notice = json_pack("{s:s, s:o}", "severity", "warning", "message",
		                                json_text(span_str(err.message)));

		acp_update_notice(question->session, notice);
	}
	json_decref(answer);
	acp_question_free(question);
}

void acp_question_decline(struct acp_question *question)
{
	acp_question_answer(question,
	                    question->topic == BUS_TOOL_CONFIRMATION_REQUEST ?
	                            json_pack("{s:s}", "outcome", "cancel") :
	                    question->topic == BUS_ASK_USER_REQUEST ?
	                            json_pack("{s:b}", "cancelled", 1) :
	                            json_pack("{s:s}", "action", "cancel"));
}

void acp_questions_over(struct acp_session *session, const json_t *message)
{
	const json_t *id = json_object_get(message, "correlationId");

	struct acp_question *question = session->questions;

	while (question && !json_equal(json_object_get(question->message, "correlationId"), id))
		question = question->next;
	if (!question)
		return;
	acp_forget(session->acp, question->id);
	acp_question_free(question);
}

void acp_questions_drop(struct acp_session *session)
{
	while (session->questions) {
		acp_forget(session->acp, session->questions->id);
		acp_question_decline(session->questions);
	}
}
