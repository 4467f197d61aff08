import type { callTextVersions } from "../../database/schema.ts";
import { MAX_TEXT_VERSIONS, MAX_TEXT_VERSIONS_SIZE } from "../../limits.ts";
import type { CallText } from "../call_texts/call_texts.sql.ts";
import type { StoredLine } from "../transcripts/transcripts.document.ts";
import { correctedTooOften, lineUnknown, textNotFinal } from "./call_text_versions.refusals.ts";

type Version = typeof callTextVersions.$inferSelect;

/** What a correction replaces: of a note its text, of a transcript its summary and lines. */
export type Replaced = Pick<Version, "text" | "summary" | "lines">;

/** What is known when a text is corrected. */
export interface KnownText {
  hasEnded: boolean;
  text: CallText;
}

/** Who corrects a text, and why. */
export interface Correction {
  user_id: number;
  reason: string;
}

/** @throws ApiError 422 if the text is not final, or its call goes on */
export function requireCorrectable({ hasEnded, text }: KnownText): void {
  if (!hasEnded || !text.is_final) throw textNotFinal(text.kind);
}

/**
 * The text after a correction, and the version that it ends.
 *
 * @param changes what of the text changes, and `replaced` what that was
 * @throws ApiError 422 if it was corrected too often, or too much of it
 */
export function correctText(
  text: CallText,
  { changes, replaced }: { changes: Partial<CallText>; replaced: Replaced },
  { user_id, reason }: Correction,
  now: number,
): { text: CallText; version: Version } {
  const { organization_id, id: text_id } = text;
  const version = text.corrections + 1;
  const replaced_size = text.replaced_size + sizeOfTexts(replaced);
  if (version > MAX_TEXT_VERSIONS || replaced_size > MAX_TEXT_VERSIONS_SIZE)
    throw correctedTooOften(text.kind);
  return {
    text: { ...text, ...changes, corrections: version, replaced_size, updated_at: now },
    version: { organization_id, text_id, version, ...replaced, reason, user_id, created_at: now },
  };
}

/** In bytes of UTF-8. */
const sizeOfTexts = ({ text, summary, lines }: Replaced): number =>
  new TextEncoder().encode([text, summary, lines].join("")).length;

/** A line as a correction, or a version, names it. */
interface LineText {
  id: number;
  text: string;
}

/**
 * The lines with other texts: they keep their ids, times and speakers.
 *
 * @returns them, and the pairs of id and text of those that were another
 * @throws ApiError 422 if one is none of the transcript
 */
export function correctLines(
  lines: Iterable<StoredLine>,
  corrected: LineText[],
): { lines: StoredLine[]; replaced: [number, string][] } {
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
  if (unknown !== undefined) throw lineUnknown(unknown);
  return { lines: next, replaced };
}

/**
 * The lines as each version had them, from the newest to the oldest. Those of a version are to be gone through before the
 * next one is asked for.
 *
 * @param lines as they are now
 * @param versions newest first
 */
export function* linesOfVersions<Of extends Pick<Version, "lines">>(
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
