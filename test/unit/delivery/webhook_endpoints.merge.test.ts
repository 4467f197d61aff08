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

it("mergeEndpoint keeps the creator of an endpoint that someone else turns off", () => {
  const off = mergeEndpoint(by({ ...disabled, is_active: true }), { is_active: false }, NOW);
  expect(off.created_by_user_id).toBe(disabled.created_by_user_id);
});
