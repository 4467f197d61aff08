import { describe, expect, it } from "vitest";
import { mergeEndpoint } from "../../src/resources/webhook_endpoints/webhook_endpoints.merge.ts";
import { DISABLED_AS_RESTORED } from "../../src/resources/webhook_endpoints/webhook_endpoints.refusals.ts";
import type { WebhookEndpoint } from "../../src/resources/webhook_endpoints/webhook_endpoints.schemas.ts";

const NOW = Date.parse("2026-01-31T09:30:00Z");
const HERE = "https://service.test";

const disabled = {
  id: 6,
  organization_id: 1,
  url: "https://hooks.example.com/visits",
  event_types: null,
  is_active: false,
  disabled_reason: "gone",
  service_url: "https://elsewhere.test",
  created_by_user_id: 33,
  failing_since: 5,
  created_at: 0,
  updated_at: 0,
};

const SUCCESSOR = 34;

/** Changed by another administrator than the one who answers for it. */
const by = (endpoint: WebhookEndpoint) => ({ endpoint, service_url: HERE, user_id: SUCCESSOR });

describe("A webhook endpoint", () => {
  it("that is activated is neither disabled nor failing", () => {
    expect(mergeEndpoint(by(disabled), { is_active: true }, NOW)).toEqual({
      ...disabled,
      created_by_user_id: SUCCESSOR,
      is_active: true,
      disabled_reason: null,
      failing_since: null,
      updated_at: NOW,
    });
  });

  it("that was restored, and that a client wants to be off, is not turned on by the operator", () => {
    const restored = { ...disabled, disabled_reason: DISABLED_AS_RESTORED };
    expect(mergeEndpoint(by(restored), { is_active: false }, NOW).disabled_reason).toBeNull();
    const { url } = disabled;
    expect(mergeEndpoint(by(restored), { url }, NOW).disabled_reason).toBe(DISABLED_AS_RESTORED);
  });

  it("that is moved is not known to fail, and is checked against where the service was reached then", () => {
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

  it.each([
    ["its URL is sent again", { url: disabled.url }],
    ["it is turned off", { is_active: false }],
    ["it is active already", { is_active: true }],
    ["it gets other types", { event_types: ["call.ended" as const] }],
  ])("stays its creator's where %s", (_, input) => {
    const active = { ...disabled, is_active: true };
    expect(mergeEndpoint(by(active), input, NOW).created_by_user_id).toBe(disabled.created_by_user_id);
  });
});
