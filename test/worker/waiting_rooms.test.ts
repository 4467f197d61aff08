import { describe, expect, it } from "vitest";
import { anOrganization } from "./support/organization.ts";

describe("A waiting room", () => {
  it("is created inactive, with the default theme, owned by the organization", async () => {
    const clinic = await anOrganization("Riverside Clinic");
    const created = await clinic.client.post("/waiting_rooms", { waiting_room: { name: "Cardiology" } });
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      id: expect.any(Number),
      organization_id: clinic.id,
      user_id: null,
      name: "Cardiology",
      slug: `${clinic.slug}-cardiology`,
      theme: "default",
      is_active: false,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: created.body.created_at,
      waiting_count: 0,
      user: { display_name: "Riverside Clinic" },
    });
  });
});
