/** The floor's reports of what calls leave behind, by the shape of their path (see floor.ts). */
import type { FloorHandler, PlatformFloorRequest } from "./floor.ts";
import { jsonObject, jsonOf, report, save, stored } from "./floor_report.ts";
import * as shape from "./floor_shapes.ts";
import { bodyOf } from "./floor_statements.ts";

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
    const written = await report(request, found, ({ call, known, people }) => {
      for (const each of people) speakers.set(each.key, each);
      if (known?.is_final) throw new Error("The transcript is final");
      const next = { organization_id: call.organization_id, call_id: call.id, summary: null, ...known };
      row = { ...next, ...sent, is_final: Number(sent.is_final ?? known?.is_final), lines_digest };
      const rows = lines.map((line: shape.Row) => {
        const speaker = speakers.get(line.participant_key);
        if (!speaker) throw new Error("Not on the call");
        return [speaker.id, line.text, line.start_time, line.end_time];
      });
      return [
        ["delete from transcript_lines where transcript_id = ?", known?.id ?? null],
        save("transcripts", known, row, request.now) ?? ["select ? id", known.id],
        [
          `insert into transcript_lines (organization_id, transcript_id, participant_id, text, start_time, end_time)
          select ?1, (select id from transcripts where call_id = ?2), value ->> 0, value ->> 1, value ->> 2, value ->> 3
          from json_each(?3) returning id`,
          call.organization_id,
          call.id,
          JSON.stringify(rows),
        ],
      ];
    });
    const [, [saved] = [], inserted = []] = written;
    const body = {
      id: saved?.id,
      summary: row.summary ?? "",
      is_final: row.is_final === 1,
      transcript_lines: lines.map(({ participant_key, ...line }: shape.Row, n: number) => ({
        id: inserted[n]?.id,
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
