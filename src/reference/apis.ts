import { invalidPlatformToken } from "../http/platform_api.ts";
import { invalidSignature } from "../livekit/livekit_api.ts";
import { invalidClient } from "../organization/api_clients/api_clients.refusals.ts";

const FAILURES =
  "Too many requests with missing or wrong credentials have come from this address. Requests with the right credentials are still served.";

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
        description: "The client id of the API client.",
      },
      clientSecret: {
        type: "apiKey",
        in: "header",
        name: "X-Client-Secret",
        description: "The secret of the API client. It is shown only once, when the client is created.",
      },
    },
    unauthorized:
      "The client credentials are missing or wrong. Check `X-Client-ID` and `X-Client-Secret`, and whether the API client was revoked.",
    unauthorizedError: invalidClient(),
    forbidden:
      "The request used plain HTTP, the organization is suspended, or the client lacks the scope or the role that the operation needs.",
    tooMany:
      "The API client, or all clients of its organization together, have sent too many requests; or too many requests with missing or wrong credentials have come from this address.",
  },
  platform: {
    title: "Organization Video Visit Service: platform API",
    description:
      "With this API, the operator of the service sets up organizations, and the video platform reports what happens in waiting rooms and calls.",
    security: { platformToken: [] as string[] },
    securitySchemes: {
      platformToken: {
        type: "http",
        scheme: "bearer",
        description: "The operator's `PLATFORM_API_TOKEN`, for all routes.",
      },
      reportsToken: {
        type: "http",
        scheme: "bearer",
        description: "The operator's `PLATFORM_REPORTS_TOKEN`, for the reports only.",
      },
      webAppToken: {
        type: "http",
        scheme: "bearer",
        description: "The operator's `PLATFORM_WEB_APP_TOKEN`, only for the routes that a web app needs.",
      },
    },
    unauthorized: "The platform token in `Authorization` is missing or wrong.",
    unauthorizedError: invalidPlatformToken(),
    forbidden:
      "The request used plain HTTP, the platform token does not open the route, or the organization is suspended.",
    tooMany: FAILURES,
  },
  livekit: {
    title: "Organization Video Visit Service: LiveKit webhook",
    description: "A LiveKit server sends its webhooks to this API. It has no other operations.",
    security: { liveKitSignature: [] as string[] },
    securitySchemes: {
      liveKitSignature: {
        type: "apiKey",
        in: "header",
        name: "Authorization",
        description: "A JSON Web Token with the digest of the body. LiveKit creates one for each event.",
      },
    },
    unauthorized:
      "The event is not correctly signed. The LiveKit server and this service must have the same API key and secret.",
    unauthorizedError: invalidSignature(),
    forbidden: "The request used plain HTTP.",
    tooMany: FAILURES,
  },
} as const;

export type Api = keyof typeof APIS;

export const API_NAMES = Object.keys(APIS) as Api[];
