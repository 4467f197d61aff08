import { expect, it } from "vitest";
import { mergeEndpoint } from "../../../src/delivery/webhook_endpoints/webhook_endpoints.merge.ts";
import type { WebhookEndpoint } from "../../../src/delivery/webhook_endpoints/webhook_endpoints.schemas.ts";

const NOW = Date.parse("2026-01-31T09:30:00Z");
const HERE = "https://service.test";

const disabled = {
  id: 6,
  organization_id: 1,
  url: "https://hooks.example.com/visits",
  event_types: null,
  is_active: false,
  disabled_reason: "gone" as const,
  service_url: "https://elsewhere.test",
  created_by_user_id: 33,
  failing_since: 5,
  created_at: 0,
  updated_at: 0,
};

const SUCCESSOR = 34;

/** A change by an administrator other than the one who is responsible for the endpoint. */
const by = (endpoint: WebhookEndpoint) => ({ endpoint, service_url: HERE, user_id: SUCCESSOR });

it("mergeEndpoint clears the failures of an endpoint with a new URL, which it checks against the service's current address", () => {
  const url = "https://new.example.com";
  expect(mergeEndpoint(by(disabled), { url }, NOW)).toEqual({
    ...disabled,
    created_by_user_id: SUCCESSOR,
    url,
    service_url: HERE,
    failing_since: null,
    repaired_at: NOW,
    due_at: NOW,
    lease_until: null,
    updated_at: NOW,
  });
});

it("mergeEndpoint makes the user who turns an endpoint on responsible, but nobody who changes something else", () => {
  const responsible = (endpoint: WebhookEndpoint, change: Parameters<typeof mergeEndpoint>[1]) =>
    mergeEndpoint(by(endpoint), change, NOW).created_by_user_id;
  const active = { ...disabled, is_active: true };
  expect(responsible(disabled, { is_active: true })).toBe(SUCCESSOR);
  // An endpoint that is turned on may fail for five days again.
  expect(mergeEndpoint(by(disabled), { is_active: true }, NOW)).toMatchObject({
    disabled_reason: null,
    failing_since: null,
  });
  for (const change of [{ is_active: false }, { url: active.url, is_active: true }, { event_types: null }])
    expect(responsible(active, change)).toBe(disabled.created_by_user_id);
});
