/** The floor's reports of what calls leave behind, by the shape of their path (see floor.ts). */
import type { FloorHandler, PlatformFloorRequest } from "./floor.ts";
import { jsonObject, jsonOf, report, save, stored } from "./floor_report.ts";
import * as shape from "./floor_shapes.ts";
import { bodyOf } from "./floor_statements.ts";
import { packed } from "./floor_transcripts.ts";

const CALL = jsonOf("id, organization_id", "calls where key = ?1");

const callId = "(select id from calls where key = ?1)";

const EGRESS = `id, organization_id, call_id, egress_id, status, error, is_stopped, ended_at, storage_key,
  changed_by_user_id, created_at, updated_at`;

const STATUSES = ["egress_starting", "egress_active", "egress_ending", "egress_ended"];

const NO_EGRESS = { error: null, is_stopped: 0, ended_at: null, storage_key: null };

export const platformResults: Record<string, FloorHandler<PlatformFloorRequest>> = {
  // Only of a transcript whose lines are new: none that is repeated is measured.
  "PUT 6 calls transcript": async (request) => {
    const { lines, ...sent } = (await bodyOf(request)).transcript;
    lines.sort((a: shape.Row, b: shape.Row) => a.start_time - b.start_time || a.end_time - b.end_time);
    const text = JSON.stringify(lines);
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    const lines_digest = Buffer.from(digest).toString("hex");
    const transcript = jsonOf(
      "id, organization_id, call_id, summary, is_final, lines_digest",
      `transcripts where call_id = ${callId}`,
    );
    const found = {
      sql: `json_object('call', ${CALL}, 'known', ${transcript}, 'people',
        json((select json_group_array(${jsonObject("id, key, display_name")}) from participants where call_id = ${callId})))`,
      values: [request.segments[4]],
    };
    let row: shape.Row = {};
    const speakers = new Map<string, shape.Row>();
    const written = await report(request, found, async ({ call, known, people }) => {
      for (const each of people) speakers.set(each.key, each);
      if (known?.is_final) throw new Error("The transcript is final");
      const next = { organization_id: call.organization_id, call_id: call.id, summary: null, ...known };
      row = { ...next, ...sent, is_final: Number(sent.is_final ?? known?.is_final), lines_digest };
      if (lines.some((line: shape.Row) => !speakers.has(line.participant_key)))
        throw new Error("Not on the call");
      const content = await packed(lines, speakers);
      return [
        save("transcripts", known, row, request.now) ?? ["select ? id", known.id],
        [
          "insert into transcript_parts (organization_id, call_id, part, content) values (?, ?, 0, unhex(?))",
          call.organization_id,
          call.id,
          content,
        ],
        [
          `update transcripts set first_line_id = (select seq + 1 from sqlite_sequence where name = 'transcript_lines')
          where call_id = ? returning first_line_id`,
          call.id,
        ],
        ["update sqlite_sequence set seq = seq + ? where name = 'transcript_lines'", lines.length],
      ];
    });
    const [[saved] = [], , [numbered] = []] = written;
    const body = {
      id: saved?.id,
      summary: row.summary ?? "",
      is_final: row.is_final === 1,
      transcript_lines: lines.map(({ participant_key, ...line }: shape.Row, n: number) => ({
        id: numbered?.first_line_id + n,
        ...line,
        display_name: speakers.get(participant_key)?.display_name,
      })),
    };
    return { body };
  },

  "PUT 6 calls soap_note": async (request) => {
    const { soap_note: sent } = await bodyOf(request);
    const note = jsonOf(
      "id, organization_id, call_id, text, is_final",
      `soap_notes where call_id = ${callId}`,
    );
    const found = { sql: `json_object('call', ${CALL}, 'known', ${note})`, values: [request.segments[4]] };
    let row: shape.Row = {};
    const [[written] = []] = await report(request, found, ({ call, known }) => {
      const next = { organization_id: call.organization_id, call_id: call.id, ...known, ...sent };
      row = { ...next, is_final: Number(next.is_final) };
      const statement = save("soap_notes", known, row, request.now);
      if (statement && known?.is_final) throw new Error("The SOAP note is final");
      return statement ? [statement] : [];
    });
    return { body: { id: written?.id ?? row.id, text: row.text, is_final: row.is_final === 1 } };
  },

  "PUT 5 egresses": async (request) => {
    const { now, segments } = request;
    const { call_key = null, user_id = null, ...fields } = (await bodyOf(request)).egress;
    const sent = stored(fields);
    const egress = jsonOf(EGRESS, "egresses where egress_id = ?2");
    const found = {
      sql: `json_object('call', ${CALL}, 'known', ${egress})`,
      values: [call_key, segments[4]],
    };
    let row: shape.Row = {};
    const [[written] = []] = await report(request, found, ({ call, known }) => {
      if (known && call && known.call_id !== call.id) throw new Error("Another call's");
      const isLate = sent.status && STATUSES.indexOf(sent.status) < STATUSES.indexOf(known?.status);
      const taken = isLate
        ? { error: known.error ?? sent.error, storage_key: known.storage_key ?? sent.storage_key }
        : sent;
      const next = {
        organization_id: call?.organization_id,
        call_id: call?.id,
        ...NO_EGRESS,
        ...known,
        ...taken,
      };
      const isEnded = next.status === "egress_ended";
      const ended_at = isEnded ? (next.ended_at ?? known?.ended_at ?? now) : next.ended_at;
      const is_stopped = Number(isEnded || known?.is_stopped || next.is_stopped);
      row = { ...next, egress_id: segments[4], ended_at, is_stopped };
      const statement = save("egresses", known, row, now);
      if (!statement || known?.status === "egress_deleted") return [];
      const changed_by_user_id = user_id ?? known?.changed_by_user_id ?? null;
      return [save("egresses", known, { ...row, changed_by_user_id }, now) ?? statement];
    });
    return { body: shape.egress({ created_at: now, updated_at: now, ...row, ...written }) };
  },
};
