/** A program that uses the whole client package. Some of its lines are wrong. */
export const PROGRAM = `
  import {
    type Call, type Client, createClient, type ErrorCode, type ErrorCodes, paginate, VideoVisitError, verifyWebhook, type WaitingRoom, type WebhookEvent,
  } from "organization-video-visit-client";

  const visits: Client = createClient({ baseUrl: "https://visits.test", clientId: "id", clientSecret: "secret" });

  export async function requests(signal: AbortSignal): Promise<string | undefined> {
    const waiting_room = { name: "Oncology", is_active: true };
    const room: WaitingRoom = await visits.createWaitingRoom({ waiting_room }, { idempotencyKey: "1", signal });
    await visits.updateWaitingRoom({ slug: room.slug, waiting_room: { ...room, name: "Radiology" } });
    const nothing: void = await visits.retireWaitingRoom({ slug: room.slug });
    for await (const each of paginate(visits.listWaitingRooms)) each.slug satisfies string;
    for await (const call of paginate(visits.listCalls, { organization_user_id: 1, from: "2026-01-31" }, { signal })) {
      call satisfies Call;
      const { transcript_lines } = await visits.getTranscript({ organization_user_id: 1, call_id: call.id });
      const captions: string = await visits.getTranscript(
        { organization_user_id: 1, call_id: call.id },
        { accept: "text/vtt" },
      );
      transcript_lines[0]?.text satisfies string | undefined;
      captions.slice(1);
    }
    for await (const { id, type, data } of visits.followEvents({ after: 1, type: "call.*", signal }))
      if (type === "call.ended") await visits.getCall({ organization_user_id: data.organization_user_id ?? 0, call_id: id });
    await visits.withActingUser("user-17", "TREAT").listRoles();
    const { erased_count } = await visits.eraseParticipant({ external_reference: "patient-1", texts: true }, { signal });
    erased_count satisfies number;
    // @ts-expect-error: no such operation
    await visits.listRooms();
    // @ts-expect-error: a room without a name
    await visits.createWaitingRoom({ waiting_room: { is_active: true } });
    // @ts-expect-error: a room without its slug
    await visits.getWaitingRoom({});
    // @ts-expect-error: a page that is a text
    await visits.listWaitingRooms({ page: "1" });
    // @ts-expect-error: a patient without a reference
    await visits.eraseParticipant({ texts: true });
    // @ts-expect-error: not one of HL7's purposes
    visits.withActingUser("user-17", "CURIOSITY");
    // @ts-expect-error: a list of calls needs its parameters
    paginate(visits.listCalls);
    // @ts-expect-error: a field that no room has
    room.title;
    return nothing ?? undefined;
  }

  export async function receive(request: Request): Promise<number> {
    const event: WebhookEvent = await verifyWebhook(["new", "old"], request.headers, await request.text());
    return event.type === "egress.ended" ? event.data.egress_id : event.id;
  }

  export const explain = (error: unknown): string | undefined =>
    error instanceof VideoVisitError ? error.text + error.requestId : undefined;

  export function codeOf(error: VideoVisitError): string | undefined {
    if (error.isFrom("retireWaitingRoom")) {
      // @ts-expect-error: a code of other operations
      if (error.code === "sub_overlaps") return "";
      return error.code satisfies ErrorCodes["retireWaitingRoom"] | undefined;
    }
    return error.code === "sub_overlaps" ? error.code : (error.code satisfies ErrorCode | undefined);
  }
`;
