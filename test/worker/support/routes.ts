import { app } from "../../../src/app.ts";
import type { Clinic, Example, MakeExample } from "../../support/clinic.ts";
import { examples } from "../../support/examples.ts";
import { type Api, platform } from "./api.ts";
import { anIdentityProvider } from "./identity_provider.ts";
import { letAge } from "./invites.ts";
import { aLiveKitRoom } from "./livekit.ts";
import { given, type Organization, unique } from "./organization.ts";
import { aSealedDay } from "./seals.ts";
import { aReceiver } from "./webhooks.ts";

type Examples = Record<string, (organization: Organization) => Promise<Example>>;

/** The examples, with resources that are created through the Worker. */
const throughWorker = (making: Record<string, MakeExample>): Examples =>
  Object.fromEntries(
    Object.entries(making).map(([route, example]) => [
      route,
      (organization) => example(toClinic(organization)),
    ]),
  );

const toClinic = (organization: Organization): Clinic => ({
  id: organization.id,
  slug: organization.slug,
  admin: organization.admin,
  client: sendTo(organization.client),
  platform: sendTo(platform),
  async signIn() {
    const provider = await anIdentityProvider();
    await provider.register(organization);
    return provider.token({ email: organization.admin.email });
  },
  letAge,
  aReceiver: () => aReceiver().url,
  aSealedDay: () => aSealedDay(organization),
});

const sendTo =
  ({ send }: Pick<Api, "send">): Clinic["client"] =>
  (method, path, body) =>
    given(send(method, path, body));

export const externalExamples = throughWorker(examples.external);

export const platformExamples = throughWorker(examples.platform);

/** The example for LiveKit's API: an event of a room of the organization. */
export const liveKitExamples: Examples = {
  "POST /webhook": async (organization) => {
    const room = await aLiveKitRoom(organization);
    return { path: "/webhook", body: JSON.parse(room.joined(unique("participant"), 1)) };
  },
};

export function routesBehind(base: string): string[] {
  const routes = app.routes
    .filter(({ method, path }) => method !== "ALL" && path.startsWith(`${base}/`))
    .map(({ method, path }) => `${method} ${path.slice(base.length)}`);
  return [...new Set(routes)].sort();
}

/** The operations that read from the nearest replica. All others read from the primary. */
export const FROM_THE_NEAREST = ["GET /call_metrics", "GET /visit_metrics", "GET /events"];
