# SPDX-License-Identifier: Apache-2.0
"""Metrics of the A2A server's tasks, as a collector on loopback gets them."""
import sys

import pytest
from serving import TOP, V1, message, rpc, serve

from fake_gemini import text
from test_serve_sdk import Webhook, words

sys.path.append(str(TOP / "test" / "telemetry"))

from test_otlp import Collector, attributes  # noqa: E402


@pytest.fixture
def collector():
    one = Collector()
    yield one
    one.close()


@pytest.fixture
def webhook():
    one = Webhook()
    yield one
    one.server.shutdown()
    one.server.server_close()


def played(request):
    return {"reply": [text("Done.")], "delay": 60 if words(request).startswith("wait") else 0}


def of_tasks(collector):
    """{metric: (the metric, {attributes but of the server: point})} of what was sent last."""
    sent = [
        metric
        for body in collector.bodies("/v1/metrics")
        for one in body["resourceMetrics"]
        for scope in one["scopeMetrics"]
        for metric in scope["metrics"]
        if metric["name"].startswith("hasp.a2a.")
    ]
    found = {}
    for metric in sent:
        points = metric.get("sum", metric.get("histogram"))["dataPoints"]
        found[metric["name"]] = metric, {
            tuple(
                sorted(
                    value
                    for name, (_, value) in attributes(point).items()
                    if name in ("hasp.caller", "state", "outcome")
                )
            ): point
            for point in points
        }
    return found


def test_what_became_of_tasks_is_counted(world, collector, webhook):
    env = {
        "GEMINI_TELEMETRY_ENABLED": "true",
        "GEMINI_TELEMETRY_OTLP_ENDPOINT": collector.url,
        "GEMINI_TELEMETRY_OTLP_PROTOCOL": "http",
    }

    def begin(said, **configuration):
        return rpc(
            served,
            "SendMessage",
            {
                "message": message(said),
                "configuration": {"returnImmediately": True, **configuration},
            },
            **V1,
        )["result"]["task"]

    def cancel(task):
        return rpc(served, "CancelTask", {"id": task["id"]}, **V1)["result"]["status"]["state"]

    with world.fake([], append_only=False, auto=played) as model, serve(
        world, model, "--tasks", "1", push={"allow": ["127.0.0.1"]}, env=env
    ) as served:
        runs, waits = begin("wait for me"), begin("wait, too")
        told = begin("hello", taskPushNotificationConfig={"url": webhook.url})
        assert cancel(waits) == cancel(runs) == "TASK_STATE_CANCELED"
        while (webhook.calls.get(timeout=120)[1].get("statusUpdate") or {}).get("status", {}).get(
            "state"
        ) != "TASK_STATE_COMPLETED":
            pass
        assert (
            rpc(served, "GetTask", {"id": told["id"]}, **V1)["result"]["status"]["state"]
            == "TASK_STATE_COMPLETED"
        )
    found = of_tasks(collector)
    metric, states = found["hasp.a2a.task.count"]
    assert metric["sum"]["isMonotonic"] is True
    assert {
        key[0].removeprefix("TASK_STATE_"): point["asInt"] for key, point in states.items()
    } == {"SUBMITTED": "3", "WORKING": "2", "CANCELED": "2", "COMPLETED": "1"}
    assert {key[1] for key in states} == {"token"}
    metric, waiting = found["hasp.a2a.task.waiting"]
    assert metric["sum"]["isMonotonic"] is False and waiting[("token",)]["asInt"] == "0"
    metric, waited = found["hasp.a2a.task.wait"]
    assert metric["unit"] == "ms" and waited[("token",)]["count"] == "2"
    _, pushes = found["hasp.a2a.push.count"]
    assert (
        set(pushes) == {("delivered", "token")} and int(pushes["delivered", "token"]["asInt"]) >= 2
    )
