import { expect, it } from "vitest";
import { mergeEndpoint } from "../../src/resources/webhook_endpoints/webhook_endpoints.merge.ts";
import type { WebhookEndpoint } from "../../src/resources/webhook_endpoints/webhook_endpoints.schemas.ts";

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

/** Changed by another administrator than the one who answers for it. */
const by = (endpoint: WebhookEndpoint) => ({ endpoint, service_url: HERE, user_id: SUCCESSOR });

it("A webhook endpoint that is moved is not known to fail, and is checked against where the service was reached then", () => {
  const url = "https://new.example.com";
  expect(mergeEndpoint(by(disabled), { url }, NOW)).toEqual({
    ...disabled,
    created_by_user_id: SUCCESSOR,
    url,
    service_url: HERE,
    failing_since: null,
    updated_at: NOW,
  });
});

it("A webhook endpoint stays its creator's where somebody else turns it off", () => {
  const off = mergeEndpoint(by({ ...disabled, is_active: true }), { is_active: false }, NOW);
  expect(off.created_by_user_id).toBe(disabled.created_by_user_id);
});
