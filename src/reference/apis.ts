import { INVALID_CLIENT } from "../resources/api_clients/api_clients.refusals.ts";

const FAILURES =
  "The credentials are missing or wrong, and too many such requests have come from this address. Requests with the right ones are served.";

/** What the reference says about each API as a whole, beside its guides. */
export const APIS = {
  external: {
    title: "Organization Video Visit Service: external API",
    description:
      "With this API, an organization manages its waiting rooms, substitutions and invites, lets its people sign in, and reads the results of its video calls.",
    security: { clientId: [] as string[], clientSecret: [] as string[] },
    securitySchemes: {
      clientId: {
        type: "apiKey",
        in: "header",
        name: "X-Client-ID",
        description: "The id of the API client.",
      },
      clientSecret: {
        type: "apiKey",
        in: "header",
        name: "X-Client-Secret",
        description: "The secret of the API client. It was shown once, when the client was created.",
      },
    },
    unauthorized: "The client credentials are missing or wrong.",
    unauthorizedError: INVALID_CLIENT,
    tooMany:
      "The API client, or all clients of its organization together, have sent too many requests; or too many with missing or wrong credentials have come from this address.",
  },
  platform: {
    title: "Organization Video Visit Service: platform API",
    description:
      "With this API, the operator of the service sets up organizations, and the video platform reports what happens in waiting rooms and calls.",
    security: { platformToken: [] as string[] },
    securitySchemes: {
      platformToken: { type: "http", scheme: "bearer", description: "The operator's `PLATFORM_API_TOKEN`." },
    },
    unauthorized: "The platform token is missing or wrong.",
    unauthorizedError: "Invalid platform token",
    tooMany: FAILURES,
  },
  livekit: {
    title: "Organization Video Visit Service: LiveKit webhook",
    description: "A LiveKit server sends its webhooks to this API: there is nothing else to call.",
    security: { liveKitSignature: [] as string[] },
    securitySchemes: {
      liveKitSignature: {
        type: "apiKey",
        in: "header",
        name: "Authorization",
        description: "A JSON Web Token that names the digest of the body. LiveKit makes one for each event.",
      },
    },
    unauthorized: "The event is not correctly signed.",
    unauthorizedError: "Invalid LiveKit signature",
    tooMany: FAILURES,
  },
} as const;

export type Api = keyof typeof APIS;

export const API_NAMES = Object.keys(APIS) as Api[];
