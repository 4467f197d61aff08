/** The ways in which API clients can burden the service within their limits. */
import { randomBytes } from "node:crypto";
import { sendUnfinished } from "../e2e/support/unfinished.ts";
import { aCallToTranscribe, linesOf } from "../support/largest_texts.ts";
import {
  type Attacker,
  aReceiver,
  deepPages,
  inTurn,
  largestTranscripts,
  MANY,
  ordinaryPaths,
  planAndCancel,
  repeat,
  type Send,
  send,
  withRows,
} from "./attack_requests.ts";

interface Way {
  about: string;
  /** Requests per minute: as many as the limits allow. By default, those of one client. */
  perMinute?: number;
  prepare(attacker: Attacker): Promise<Send>;
}

/** The limit of a client. */
export const CLIENT = 1200;

/** One client requests these paths in turn. */
const reading =
  (pathsOf: (attacker: Attacker) => Promise<string[]>): Way["prepare"] =>
  async (attacker) => {
    const paths = await pathsOf(attacker);
    const client = await attacker.aClient();
    return inTurn(paths.map((path) => () => send(attacker, client, "GET", path)));
  };

export const WAYS: Record<string, Way> = {
  ordinary: {
    about: "Ordinary requests, which show the cost of their number",
    prepare: reading(ordinaryPaths),
  },
  clients: {
    about: "Ordinary requests by 100 clients of one organization",
    perMinute: 6000,
    prepare: async (attacker) => {
      const paths = await ordinaryPaths(attacker);
      const clients = await repeat(99, () => attacker.aClient());
      return inTurn(
        clients.flatMap((client) => paths.map((path) => () => send(attacker, client, "GET", path))),
      );
    },
  },
  texts: {
    about: "Reads of the largest transcripts, corrected 25 times, as JSON and as WebVTT",
    prepare: async (attacker) => {
      const paths = await largestTranscripts(attacker);
      const client = await attacker.aClient();
      return inTurn(
        paths.flatMap((path) => [
          () => send(attacker, client, "GET", path),
          () => send(attacker, { ...client, Accept: "text/vtt" }, "GET", path),
        ]),
      );
    },
  },
  pages: {
    about: `The last pages of lists, and searches for references of ${MANY.toLocaleString("en")} calls, visits and log entries`,
    prepare: reading(deepPages),
  },
  unfinished_bodies: {
    about: "Bodies of 1 MiB, 64 KiB and 2 bytes whose last byte never comes",
    prepare: async (attacker) => {
      const client = await attacker.aClient();
      const text = { method: "PUT", path: "/organization_users/1/calls/1/transcript", size: 1024 * 1024 };
      const room = { method: "POST", path: "/waiting_rooms" };
      const bodies = [text, { ...room, size: 64 * 1024 }, { ...room, size: 2 }];
      return inTurn(bodies.map((body) => () => sendUnfinished(attacker.url, client, body)));
    },
  },
  holds: {
    about: "A legal hold of a call, and its release",
    prepare: async (attacker) => {
      const provider = await attacker.addUser("pascal", "provider");
      const call = await aCallToTranscribe(attacker, provider);
      const path = call.path.replace("transcript", "legal_hold");
      const client = await attacker.aClient();
      return inTurn([
        () => send(attacker, client, "PUT", path, { legal_hold: {} }),
        () => send(attacker, client, "DELETE", path),
      ]);
    },
  },
  corrections: {
    about: "Corrections of 1 MiB, even when the client's share of the day's writes is used up",
    prepare: async (attacker) => {
      const provider = await attacker.addUser("pascal", "provider");
      const client = await attacker.aClient();
      const corrections = await repeat(20, async () => {
        const { path, report } = await aCallToTranscribe(attacker, provider);
        await report(linesOf(10_000, 90));
        const { body } = await attacker.external("GET", path);
        const corrected = (n: number) =>
          body.transcript_lines.map(({ id }: { id: number }) => ({ id, text: `${n}${"x".repeat(70)}` }));
        return (n: number) =>
          send(attacker, client, "PUT", path, {
            transcript: { lines: corrected(n), reason: "Misheard" },
          });
      });
      return inTurn(
        Array.from({ length: 10 }, (_, n) => corrections.map((correct) => () => correct(n))).flat(),
      );
    },
  },
  visits: {
    about: "Visits of the largest size, planned and cancelled, even when the client's share is used up",
    prepare: async (attacker) => {
      const client = await attacker.aClient();
      const waiting_room = { name: "Largest", is_active: true };
      const { body: room } = await attacker.external("POST", "/waiting_rooms", { waiting_room });
      return () => planAndCancel(attacker, client, room.slug);
    },
  },
  ndjson: {
    about: "Lists of 10,000 entries of the access log as NDJSON",
    perMinute: 30,
    prepare: async (attacker) => {
      await withRows(attacker, (run) =>
        run(
          `insert into access_logs (organization_id, at, event, resource, resource_id, call_id, organization_user_id, user_id,
            api_client_id, acting_user, purpose, request_id)
          with recursive n (n) as (select 1 union all select n + 1 from n where n < 10001)
          select ?1, ?2, 'update', 'organization_user', n, n, n, n, n, ?3, 'HOPERAT', randomblob(16) from n`,
          attacker.organization.id,
          Date.now(),
          "x".repeat(64),
        ),
      );
      const client = { ...(await attacker.aClient()), Accept: "application/x-ndjson" };
      return () => send(attacker, client, "GET", "/access_logs");
    },
  },
  bulk_invites: {
    about: "Bulk invites of 1,000 rows",
    perMinute: 10,
    prepare: async (attacker) => {
      const client = await attacker.aClient();
      return () => {
        const organization_invites = Array.from({ length: 1000 }, (_, n) => ({
          email: `${randomBytes(6).toString("hex")}-${n}@invitees.example`,
          display_name: "Ivy Invitee".padEnd(255, "y"),
          role_names: ["provider"],
        }));
        return send(attacker, client, "POST", "/invites/bulk_create", { organization_invites });
      };
    },
  },
  redeliveries: {
    about: "Redeliveries of 1,000 events to ten endpoints that answer at once",
    perMinute: 10,
    prepare: async (attacker) => {
      const client = await attacker.aClient();
      const url = await aReceiver();
      const endpoints = await repeat(10, async () => {
        const { body } = await attacker.external("POST", "/webhook_endpoints", { webhook_endpoint: { url } });
        return body.id;
      });
      await withRows(attacker, (run) =>
        run(
          `with recursive n (n) as (select 1 union all select n + 1 from n where n < 5000)
          insert into events (organization_id, type, data, created_at)
          select ?1, 'waiting_room.updated', '{"waiting_room_id":1}', ?2 from n`,
          attacker.organization.id,
          Date.now(),
        ),
      );
      return inTurn(
        endpoints.map(
          (id) => () => send(attacker, client, "POST", `/webhook_endpoints/${id}/redeliver`, { after: 0 }),
        ),
      );
    },
  },
};
