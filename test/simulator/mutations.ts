// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are parts of the source

import type { Mutation } from "./isolate.ts";

/** Faults that the simulator must find. Each changes one place of the service. */
export const MUTATIONS: Mutation[] = [
  {
    name: "A decision is written although the rows that it is based on have changed",
    file: "src/database/decide_and_write.ts",
    from: 'where ${changed.join(" or ")}',
    to: 'where (${changed.join(" or ")}) and false',
  },
  {
    name: "A stored idempotency key is ignored",
    file: "src/database/decide_and_write.ts",
    from: "if (known) return idempotency.replay(known);",
    to: "",
  },
  {
    name: "A write that conflicts is not tried again",
    file: "src/tuning.ts",
    from: "export const MAX_WRITE_ATTEMPTS = ",
    to: "export const MAX_WRITE_ATTEMPTS = 1 || ",
  },
  {
    name: "Subs may overlap",
    file: "src/rooms/waiting_room_subs/waiting_room_subs.sql.ts",
    from: "isOfRoomAfter(path, coalesce(path.start, storedStart)),",
    to: "sql`false`,",
  },
  {
    name: "A room is found without its organization",
    file: "src/rooms/waiting_rooms/waiting_rooms.sql.ts",
    from: "and(eq(waitingRooms.organization_id, organization_id), hasSlug(slug))",
    to: "hasSlug(slug)",
  },
  {
    name: "A deleted transcript can be reported again",
    file: "src/results/transcripts/transcripts.merge.ts",
    from: "if (call.transcript_deleted_at !== null) throw transcriptRefusals.wasDeleted();",
    to: "",
  },
  {
    name: "Reading a transcript leaves no entry in the access log",
    file: "src/results/transcripts/transcripts.service.ts",
    from: 'recorded ? sql.entryOfCaptions(context, "read", recorded) : entryOfText(context, "read", reached),',
    to: "sql.transcriptOfPath(reached),",
  },
  {
    name: "An erasure leaves the name",
    file: "src/calls/participants/participants.erasure.ts",
    from: "display_name: ERASED_NAME,",
    to: "",
  },
  {
    name: "A refusal of consent is ignored",
    file: "src/calls/consents/consents.merge.ts",
    from: "if (recording_consent === undefined) return undefined;",
    to: "if (!recording_consent) return undefined;",
  },
  {
    name: "A repeated grant overrules a refusal",
    file: "src/calls/consents/consents.merge.ts",
    from: 'if (decision === "refused") return reported_at;',
    to: 'if (decision === "refused") return 0;',
  },
  {
    name: "An endpoint is leased although another lane has it",
    file: "src/delivery/webhook_deliveries/webhook_deliveries.lanes.ts",
    from: "or(isNull(webhookEndpoints.lease_until), lte(webhookEndpoints.lease_until, now))",
    to: "or(isNull(webhookEndpoints.lease_until), sql`true`)",
  },
  {
    name: "A webhook counts as sent before it is sent",
    file: "src/delivery/webhook_deliveries/webhook_deliveries.lanes.ts",
    from: "? await sendWebhook(context, lane.endpoint, webhookOfDelivery(delivery))",
    to: "? { at: Date.now(), response_status: 204, error: null, retry_after: null }",
  },
  {
    name: "A mail counts as sent before it is sent",
    file: "src/mail/mail.ts",
    from: "export async function sendMail({ from, provider }: Mailer, mail: Mail): Promise<MailOutcome> {",
    to: 'export async function sendMail(...given: [Mailer, Mail]): Promise<MailOutcome> {\n  setTimeout(() => sendLater(...given), 10); return { state: "sent" };\n}\nasync function sendLater({ from, provider }: Mailer, mail: Mail): Promise<MailOutcome> {',
  },
  {
    name: "A mail is leased twice",
    file: "src/joining/invite_mails/invite_mails.sql.ts",
    from: "and(hasValues(invites, { id, next_mail_at }), isNull(invites.used_at))",
    to: "and(hasValues(invites, { id }), sql`${next_mail_at} is not null`, isNull(invites.used_at))",
  },
  {
    name: "The cron does not look for webhooks whose message was lost",
    file: "src/cron.ts",
    from: "const lastChores: Chores = { queueDueMails, queueDueDeliveries };",
    to: "const lastChores: Chores = { queueDueMails };",
  },
  {
    name: "The cron does not look for mails whose message was lost",
    file: "src/cron.ts",
    from: "const lastChores: Chores = { queueDueMails, queueDueDeliveries };",
    to: "const lastChores: Chores = { queueDueDeliveries };",
  },
  {
    name: "The cron does not look for bulk invites whose message was lost",
    file: "src/cron.ts",
    from: "  queueDueBulkInvites,\n  erasePersonalData",
    to: "  erasePersonalData",
  },
  {
    name: "Messages of a second database do not name it",
    file: "src/database/shards.ts",
    from: "({ ...(body as object), shard })",
    to: "body as object",
  },
  {
    name: "A revoked client is remembered for ever",
    file: "src/organization/api_clients/api_clients.cache.ts",
    from: "if (!known || age >= CLIENT_KNOWN_FOR)",
    to: "if (!known)",
  },
  {
    name: "A file is kept although its recording counts as deleted",
    file: "src/results/egress_deletions/egress_deletions.service.ts",
    from: "const failures = await deleteFiles(context, keys);",
    to: "const failures = new Map<string, string>();",
  },
  {
    name: "A sealed day lacks an entry",
    file: "src/audit/access_log_seals/access_log_seals.files.ts",
    from: "for (const lines of toNdjson(page))",
    to: "for (const lines of toNdjson(page.slice(1)))",
  },
  {
    name: "A move neither refuses writes nor compares",
    file: "src/dev/move.ts",
    from: "await refuseWrites(moving, moving.from, [sql.requireNothingUnderWay(moving.id, Date.now())]);",
    to: "await moving.run(moving.from, [sql.requireNothingUnderWay(moving.id, Date.now())]);",
  },
  {
    name: "A suspended organization's clients are served",
    file: "src/organization/api_clients/api_clients.authentication.ts",
    from: "if (client.is_suspended) throw organizationSuspended();",
    to: "",
  },
  {
    name: "A suspended organization's webhooks are sent",
    file: "src/delivery/webhook_deliveries/webhook_deliveries.lanes.ts",
    from: "    isServed(webhookEndpoints.organization_id),\n",
    to: "",
  },
  {
    name: "A deletion leaves the files of recordings",
    file: "src/dev/organization_deletion.ts",
    from: "await deleteFiles(`${slug}/`);",
    to: "",
  },
  {
    name: "A deletion leaves the rows of another database",
    file: "src/dev/organization_deletion.ts",
    from: "[...shards.filter((each) => each !== home), home]",
    to: "[0]",
  },
  {
    name: "A room is remembered by the isolate that has shown it",
    file: "src/rooms/waiting_rooms/waiting_rooms.service.ts",
    from: "  requireFirst(db, sql.roomBySlug({ organization_id, slug }), waitingRoomNotFound);",
    to: "  (remembered[slug] ??= requireFirst(db, sql.roomBySlug({ organization_id, slug }), waitingRoomNotFound));\nconst remembered: Record<string, Promise<WaitingRoom>> = {};",
  },
];
