/** What the reference says of each door as a whole. */
export const DOORS = {
  external: {
    title: "Organization Video Visit Service: external API",
    description:
      "An organization manages its set-up and reads the results of its calls. Every request carries the credentials of an API client, and sees and changes data of its organization alone.",
    security: { clientId: [] as string[], clientSecret: [] as string[] },
    securitySchemes: {
      clientId: {
        type: "apiKey",
        in: "header",
        name: "X-Client-ID",
        description: "Identifies the API client.",
      },
      clientSecret: {
        type: "apiKey",
        in: "header",
        name: "X-Client-Secret",
        description: "Shown once, when the client was made.",
      },
    },
    unauthorized: "The client credentials are missing or wrong.",
  },
  platform: {
    title: "Organization Video Visit Service: platform API",
    description:
      "The operator provisions organizations, and the video backend reports what happened. Everything that reports is a PUT on the reporter's own key: repeating it changes nothing, a field left out keeps what was reported before, and null clears it.",
    security: { platformToken: [] as string[] },
    securitySchemes: {
      platformToken: { type: "http", scheme: "bearer", description: "The operator's PLATFORM_API_TOKEN." },
    },
    unauthorized: "The platform token is missing or wrong.",
  },
} as const;

export type Door = keyof typeof DOORS;
