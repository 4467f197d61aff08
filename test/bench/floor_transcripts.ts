/** How the floor writes and reads the document of a transcript. */
import type { Row } from "./floor.ts";

/**
 * @param lines new lines, in their order
 * @param speakers the speakers by their keys
 */
export async function pack(lines: Row[], speakers: Map<string, Row>): Promise<string> {
  const ids: number[] = [];
  const [who, times, texts]: [number[], (number | string)[], string[]] = [[], [], []];
  let before = 0;
  for (const line of lines) {
    const { id } = speakers.get(line.participant_key) ?? {};
    if (!ids.includes(id)) ids.push(id);
    who.push(ids.indexOf(id));
    texts.push(line.text);
    for (const seconds of [line.start_time, line.end_time]) {
      const now = Math.round(seconds * 1000);
      if (Number.isSafeInteger(now) && now / 1000 === seconds) {
        times.push(now - before);
        before = now;
      } else times.push(String(seconds));
    }
  }
  const text = JSON.stringify({ speakers: ids, who, ids: [0, lines.length], times, texts });
  const stream = new Response(text).body?.pipeThrough(new CompressionStream("gzip"));
  return Buffer.from(await new Response(stream).arrayBuffer()).toString("hex");
}

export async function unpack(content: string, first_line_id: number, names: [number, string][]) {
  const stream = new Response(Buffer.from(content, "hex")).body?.pipeThrough(new DecompressionStream("gzip"));
  const { speakers, who, ids, times, texts } = await new Response(stream).json<Row>();
  const nameOf = new Map(names);
  let [now, next, run, left, id] = [0, first_line_id, 0, 0, 0];
  const timeAt = (n: number) => {
    if (typeof times[n] === "string") return Number(times[n]);
    now += times[n];
    return now / 1000;
  };
  return texts.map((text: string, n: number) => {
    if (left === 0) [id, left, run] = [ids[run], ids[run + 1], run + 2];
    left--;
    return {
      id: id === 0 ? next++ : id++,
      text,
      start_time: timeAt(2 * n),
      end_time: timeAt(2 * n + 1),
      display_name: nameOf.get(speakers[who[n]]) ?? "",
    };
  });
}
