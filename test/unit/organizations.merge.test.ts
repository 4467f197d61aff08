import { describe, expect, it } from "vitest";
import { mergeOrganization } from "../../src/resources/organizations/organizations.merge.ts";

const NOW = 2000;

const clinic = {
  id: 1,
  name: "Riverside Clinic",
  slug: "riverside-clinic-3",
  recording_retention_days: 30,
  transcript_retention_days: null,
  participant_retention_days: null,
  require_acting_user: false,
  created_at: 1000,
  updated_at: 1000,
};

describe("An update of an organization", () => {
  it("keeps what is left out, and notes the time", () => {
    expect(mergeOrganization(clinic, {}, NOW)).toEqual({ ...clinic, updated_at: NOW });
    expect(mergeOrganization(clinic, { name: undefined }, NOW).name).toBe(clinic.name);
  });

  it("keeps things for good where the days are null", () => {
    const days = { recording_retention_days: null, transcript_retention_days: 60 };
    expect(mergeOrganization(clinic, days, NOW)).toEqual({ ...clinic, ...days, updated_at: NOW });
  });

  it("changes the name, and never the slug", () => {
    const renamed = mergeOrganization(clinic, { name: "Hillside Clinic" }, NOW);
    expect(renamed).toEqual({ ...clinic, name: "Hillside Clinic", updated_at: NOW });
  });
});
