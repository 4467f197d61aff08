import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { aCall } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { changingNothing } from "../support/unchanged.ts";

async function aClinic() {
  const clinic = await anOrganization();
  const paula = await clinic.addProvider();
  const al = await clinic.addUser("Al Assistant", ["provider_assistant"], { assists: [paula.id] });
  return { clinic, others: [await clinic.addClient(paula.id), await clinic.addClient(al.id)] };
}

/** The fields that both APIs show, as the platform reads them. */
async function asThePlatformSees({ id }: Organization) {
  const { is_suspended: _, ...shared } = await given(platform.get(`/organizations/${id}`));
  return { ...shared, app_url: "https://app.test" };
}

describe("GET and PUT /organization", () => {
  it("let an administrator change the settings as the platform does, and record the change", async () => {
    const { clinic } = await aClinic();
    const organization = { name: " Lakeside ", transcript_retention_days: 90, require_acting_user: false };
    const changed = await given(clinic.client.put("/organization", { organization }));
    expect(changed).toMatchObject({ ...organization, name: "Lakeside", recording_retention_days: null });
    expect(await asThePlatformSees(clinic)).toEqual(changed);
    const { access_logs } = await given(clinic.client.get("/access_logs"));
    expect(access_logs.at(-1)).toMatchObject({
      resource: "organization",
      event: "update",
      resource_id: clinic.id,
      user_id: clinic.admin.user_id,
      api_client_id: expect.any(Number),
    });
  });

  it("take the address of the web app back as it is shown, and no other one", async () => {
    const { clinic } = await aClinic();
    const organization = await given(clinic.client.get("/organization"));
    await given(clinic.client.put("/organization", { organization }));
    const other = { organization: { app_url: "https://elsewhere.test" } };
    expectRefusal(
      await changingNothing(() => clinic.client.put("/organization", other)),
      422,
      /^organization\.app_url: cannot be changed here/,
    );
  });

  it.each(["America/Argentina/Buenos_Aires", "Etc/GMT-14", "UTC", null])(
    "take the time zone %s",
    async (time_zone) => {
      const { clinic } = await aClinic();
      await given(clinic.client.put("/organization", { organization: { time_zone: "Europe/Berlin" } }));
      await given(clinic.client.put("/organization", { organization: { time_zone } }));
      expect(await given(clinic.client.get("/organization"))).toMatchObject({ time_zone });
      const created = { organization: { name: "Lakeside", time_zone } };
      expect(await given(platform.post("/organizations", created))).toMatchObject({ time_zone });
    },
  );

  it("refuse an offset, and what is no name of a time zone, as the platform API does", async () => {
    const { clinic } = await aClinic();
    for (const time_zone of ["+02:00", "GMT+2", "Mars/Olympus", "IST", "europe/berlin", "", " UTC", 2]) {
      const organization = { time_zone };
      for (const refused of [
        () => clinic.client.put("/organization", { organization }),
        () => platform.put(`/organizations/${clinic.id}`, { organization }),
        () => platform.post("/organizations", { organization: { ...organization, name: "Lakeside" } }),
      ])
        expectRefusal(
          await changingNothing(refused),
          422,
          /^organization\.time_zone: must be .*Europe\/Berlin/,
        );
    }
  });
});

describe.each(["transcript", "soap_note"] as const)("DELETE .../calls/{call_id}/%s", (kind) => {
  const REPORTS = {
    transcript: { transcript: { is_final: true, summary: "All is well.", lines: [] } },
    soap_note: { soap_note: { is_final: true, text: "Subjective: well." } },
  };

  /** A call with the text, the clients that may ask for its deletion, and the events about it. */
  async function aDocumentedCall() {
    const { clinic, others } = await aClinic();
    const call = await aCall(clinic);
    await given(platform.put(`${call.url}/${kind}`, REPORTS[kind]));
    const deletedEvents = async () =>
      (await given(clinic.client.get(`/events?type=${kind}.deleted`))).events.map(
        ({ data }: { data: object }) => data,
      );
    return { clinic, others, call, path: `${call.path}/${kind}`, deletedEvents };
  }

  it("deletes the text for good, with an access log entry and an event", async () => {
    const { clinic, call, path, deletedEvents } = await aDocumentedCall();
    await given(clinic.client.delete(path));
    expectRefusal(await clinic.client.get(path), 404, /not found/);
    expectRefusal(await platform.put(`${call.url}/${kind}`, REPORTS[kind]), 422, /was deleted/);
    const { access_logs } = await given(clinic.client.get(`/access_logs?event=delete`));
    expect(access_logs).toMatchObject([
      { resource: kind, resource_id: call.id, user_id: clinic.admin.user_id },
    ]);
    const data = [{ organization_user_id: expect.any(Number), call_id: call.id }];
    expect(await deletedEvents()).toEqual(data);
    // Deleting again changes nothing.
    await given(clinic.client.delete(path));
    expect(await deletedEvents()).toEqual(data);
  });

  it("is refused under legal hold", async () => {
    const { clinic, call, path } = await aDocumentedCall();
    await given(platform.put(`${call.url}/legal_hold`, { legal_hold: {} }));
    expectRefusal(await changingNothing(() => clinic.client.delete(path)), 422, /legal hold/);
    await given(clinic.client.get(path));
  });
});
