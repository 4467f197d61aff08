import { type Act, pick, resultsOf } from "./act.ts";

/** The acts by which an organization reads everything else, and takes rights and names away. */
export const readingActs: Record<string, Act> = {
  async "reads lists"(clinic) {
    for (const path of [
      "/waiting_rooms",
      "/visits",
      "/calls",
      "/invites",
      "/organization_users",
      "/access_logs",
    ])
      await clinic.client("GET", path);
  },
  async "reads its metrics"(clinic) {
    await clinic.client("GET", "/call_metrics");
    await clinic.client("GET", "/visit_metrics?days=local");
    await clinic.client("GET", "/usage");
  },
  async "looks for another organization's things"(clinic) {
    const call = pick(clinic, clinic.neighbour.calls, ({ id }) => id !== undefined);
    const [slug, visit] = [pick(clinic, clinic.neighbour.rooms), pick(clinic, clinic.neighbour.visits)];
    const [sub, invite] = [pick(clinic, clinic.neighbour.subs), pick(clinic, clinic.neighbour.invites)];
    const endpoint = pick(clinic, clinic.neighbour.endpoints);
    for (const path of [
      ...(call ? [resultsOf(call), `${resultsOf(call)}/transcript`, `${resultsOf(call)}/egresses`] : []),
      ...(slug ? [`/waiting_rooms/${slug}`, `/waiting_rooms/${slug}/waiting_room_subs`] : []),
      ...(visit ? [`/visits/${visit.id}`] : []),
      ...(invite ? [`/invites/${invite}`] : []),
      ...(endpoint ? [`/webhook_endpoints/${endpoint.id}`] : []),
    ]) {
      const outcome = await clinic.client("GET", path);
      if (outcome && ![403, 404, 429].includes(outcome.status))
        clinic.world.violation(
          `${path} of ${clinic.neighbour.name} answered ${outcome.status} to ${clinic.name}`,
        );
    }
    if (sub) await clinic.client("DELETE", `/waiting_rooms/${sub.slug}/waiting_room_subs/${sub.id}`);
  },
  async "revokes a client"(clinic) {
    if (clinic.world.chance.is(0.7)) return;
    const api_client = { name: clinic.unique("Client"), organization_user_id: clinic.providers[0]?.id };
    const made = await clinic.platform("POST", `${clinic.own}/api_clients`, { api_client });
    if (made?.status !== 201) return;
    const { id, client_id, client_secret } = made.body;
    const credentials = { "X-Client-ID": client_id, "X-Client-Secret": client_secret };
    for (let n = 0; n < 3; n++) await clinic.clientWith(credentials, "GET", "/roles");
    const outcome = await clinic.platform("DELETE", `${clinic.own}/api_clients/${id}`);
    if (outcome?.status !== 204) return;
    await clinic.world.schedule.pause(61_000);
    const after = await clinic.clientWith(credentials, "GET", "/roles");
    if (after?.status === 200) clinic.world.violation("A revoked client was served after a minute");
  },
  async "erases a patient"(clinic) {
    const patient = pick(clinic, clinic.patients, ({ isLeaving }) => !isLeaving);
    if (!patient || clinic.world.chance.is(0.5)) return;
    patient.isLeaving = true;
    clinic.patients.push(clinic.newPatient());
    while (patient.namedBy > 0) await clinic.world.schedule.pause(1000);
    const path = `/participants?external_reference=${patient.external_reference}&texts=true`;
    for (let n = 0; n < 3; n++) {
      const { status, body } = (await clinic.client("DELETE", path)) ?? {};
      if (status !== 200) return;
      const left = body.held_count + body.ongoing_count + body.remaining_count;
      if (left === 0) {
        patient.isErased = true;
        return;
      }
      await clinic.world.schedule.pause(60_000);
    }
  },
};
