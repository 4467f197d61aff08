import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";
import { expect, it, onTestFinished, vi } from "vitest";
import type { WebhookEvent } from "../../../dist/client/external/index.js";
import { EVENT_TYPES } from "../../../src/database/enums.ts";
import { WEBHOOK_SECRET } from "../../../src/openapi/story.ts";

type Body<Type extends WebhookEvent["type"]> = Extract<WebhookEvent, { type: Type }>;

/** The first example of a webhook. */
function exampleIn({ requestBody }: Sent) {
  const { example, examples = {} } = requestBody.content["application/json"];
  return example ?? Object.values(examples)[0]?.value;
}

const documentOf = (api: string) => JSON.parse(readFileSync(`dist/public/api/${api}/openapi.json`, "utf8"));

it("The external document describes a webhook for each type of event, and for the ping", () => {
  expect(Object.keys(documentOf("external").webhooks).sort()).toEqual([...EVENT_TYPES, "ping"].sort());
  expect(documentOf("platform").webhooks).toBeUndefined();
});

it("The document says that an event is sent again after a failure, but no test and no ping", () => {
  const webhooks = Object.values(documentOf("external").webhooks) as { post: Responses }[];
  for (const { post } of webhooks)
    expect(post.responses.default.description).toBe(
      "The event is sent again later. A test or a ping is not.",
    );
});

interface Responses {
  responses: { default: { description: string } };
}

it("WebhookEvent knows the data of an event by its type", () => {
  const external = documentOf("external");
  const exampleOf = (type: string) => exampleIn(external.webhooks[type].post);
  const data: Body<"call.ended">["data"] = { organization_user_id: 12, call_id: 300 };
  expect(exampleOf("call.ended")).toMatchObject({ type: "call.ended", data });
  // @ts-expect-error: an accepted invite has no call_id
  const { call_id }: Body<"invite.accepted">["data"] = exampleOf("invite.accepted").data;
  expect(call_id).toBeUndefined();
});

it("The examples of webhooks have valid signatures, so that a receiver can be tried with them", () => {
  onTestFinished(() => void vi.useRealTimers());
  const webhooks = Object.values(documentOf("external").webhooks) as { post: Sent }[];
  for (const { post } of webhooks) {
    const body = exampleIn(post);
    const headers = Object.fromEntries(post.parameters.map(({ name, example }) => [name, example]));
    vi.useFakeTimers({ now: Number(headers["webhook-timestamp"]) * 1000 });
    expect(new Webhook(WEBHOOK_SECRET).verify(JSON.stringify(body), headers)).toEqual(body);
  }
});

interface Sent {
  parameters: { name: string; example: string }[];
  requestBody: {
    // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of an example
    content: { "application/json": { example?: any; examples?: Record<string, { value: any }> } };
  };
}
