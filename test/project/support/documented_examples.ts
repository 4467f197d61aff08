import { aProvider, type Clinic, type MakeExample, unique } from "../../support/clinic.ts";
import { examples } from "../../support/examples.ts";
import type { Operation } from "./request_schemas.ts";

/** The example of an operation. For LiveKit's API, it is the document's example, in a room of the organization. */
export function exampleFor({ api, method, path, body }: Operation): MakeExample {
  if (api === "livekit") return async (clinic) => ({ path, body: await anEvent(clinic, body?.example) });
  const example = examples[api][`${method} ${path.replace(/\{(\w+)\}/g, ":$1")}`];
  if (!example) throw new Error(`test/support/examples_${api}.ts has no example of ${method} ${path}`);
  return example;
}

async function anEvent(clinic: Clinic, documented: unknown) {
  const { id, waiting_room_slug } = await aProvider(clinic);
  const metadata = JSON.stringify({ waiting_room_slug, organization_user_id: id });
  const event = documented as { room: object };
  return { ...event, room: { ...event.room, sid: unique("RM"), metadata } };
}
