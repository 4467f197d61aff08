import { MAX_TEXT_VERSIONS, MAX_TEXT_VERSIONS_SIZE } from "../../limits.ts";
import type { CallText } from "../call_texts/call_texts.sql.ts";
import type { StoredLine } from "../transcripts/transcripts.document.ts";
import { correctedTooOften, lineUnknown } from "./call_text_versions.refusals.ts";
import type { TextVersion } from "./call_text_versions.table.ts";

/** The replaced content: the text of a note, or the summary and lines of a transcript. */
export type Replaced = Pick<TextVersion, "text" | "summary" | "lines">;

export interface Correction {
  user_id: number;
  reason: string;
}

/** @throws ApiError 422 if the text was corrected too often, or too much of it was replaced */
export function correctText(
  text: CallText,
  { changes, replaced }: { changes: Partial<CallText>; replaced: Replaced },
  { user_id, reason }: Correction,
  now: number,
): { text: CallText; version: TextVersion } {
  const { organization_id, id: text_id } = text;
  const version = text.corrections + 1;
  const replaced_texts = [replaced.text, replaced.summary, replaced.lines].join("");
  const replaced_size = text.replaced_size + new TextEncoder().encode(replaced_texts).length;
  if (version > MAX_TEXT_VERSIONS || replaced_size > MAX_TEXT_VERSIONS_SIZE)
    throw correctedTooOften(text.kind);
  return {
    text: { ...text, ...changes, corrections: version, replaced_size, updated_at: now },
    version: { organization_id, text_id, version, ...replaced, reason, user_id, created_at: now },
  };
}

/**
 * @returns all lines, and the id and old text of each changed line
 * @throws ApiError 422 if the transcript does not have one of the corrected lines
 */
export function correctLines(lines: Iterable<StoredLine>, corrected: Pick<StoredLine, "id" | "text">[]) {
  const texts = new Map(corrected.map(({ id, text }) => [id, text]));
  const replaced: [number, string][] = [];
  const next = [...lines].map((line) => {
    const text = texts.get(line.id) ?? line.text;
    texts.delete(line.id);
    if (text === line.text) return line;
    replaced.push([line.id, line.text]);
    return { ...line, text };
  });
  const [unknown] = texts.keys();
  if (unknown !== undefined) throw lineUnknown(corrected.findIndex(({ id }) => id === unknown));
  return { lines: next, replaced };
}

/** The lines in each version, newest first. Read the lines of a version before you ask for the next one. */
export function* linesOfVersions<Of extends Pick<TextVersion, "lines">>(
  lines: StoredLine[],
  versions: Of[],
): Generator<{ version: Of; lines: Iterable<StoredLine> }> {
  const texts = new Map<number, string>();
  const then = function* () {
    for (const line of lines) yield { ...line, text: texts.get(line.id) ?? line.text };
  };
  for (const version of versions) {
    for (const [id, text] of JSON.parse(version.lines ?? "[]") as [number, string][]) texts.set(id, text);
    yield { version, lines: then() };
  }
}
