import { describe, expect, it } from "vitest";
import { isDocumented } from "../../worker/support/error_texts.ts";

const examples = ["A room is in use; wait 5 seconds", "waiting_room.slug: cannot be set"];

describe("isDocumented", () => {
  it.each([
    "A room is in use; wait 60 seconds",
    "waiting_room.slug: cannot be set",
    "waiting_room.name: must be at most 255 characters long",
    "role: must be one of provider, provider_assistant",
    "lines.3.text: must not be blank; lines.4: must be an object; and 12 more",
    "page: is required; A room is in use; wait 5 seconds; name: is required",
  ])("accepts %s", (text) => {
    expect(isDocumented(text, 422, examples)).toBe(true);
  });

  it.each([
    "",
    "A room is in use",
    "waiting_room.slug: cannot be set.",
    "must not be blank",
    "waiting_room.name: must be nice",
    "waiting_room.name: must be at most many characters long",
    "name: is required; waiting_room.name: must be nice",
    "name: must be nice; and 3 more",
    "and 3 more",
    "name: is required; and some more",
  ])("refuses %j", (text) => {
    expect(isDocumented(text, 422, examples)).toBe(false);
  });

  it("accepts errors about fields only for invalid requests", () => {
    expect(isDocumented("name: is required", 400, [])).toBe(true);
    for (const status of [401, 404, 409, 500])
      expect(isDocumented("name: is required", status, [])).toBe(false);
  });
});
