// `npm run dev` serves this file with the credentials of the demo organization in front of it.
const credentials = window.developmentCredentials ?? {};

const documents = [
  { title: "External API", slug: "external", schemes: ["clientId", "clientSecret"] },
  { title: "Platform API", slug: "platform", schemes: ["platformToken"] },
  { title: "LiveKit webhook", slug: "livekit", schemes: ["liveKitSignature"] },
];

window.Scalar.createApiReference(
  "#reference",
  documents.map(({ title, slug, schemes }) => ({
    title,
    slug,
    url: `/api/${slug}/openapi.json`,
    authentication: {
      preferredSecurityScheme: [schemes],
      // A scheme that the document does not have would be shown as one of its own.
      securitySchemes: Object.fromEntries(
        schemes.filter((name) => name in credentials).map((name) => [name, credentials[name]]),
      ),
    },
    // The page makes no requests to other hosts.
    withDefaultFonts: false,
    telemetry: false,
    showDeveloperTools: "never",
    agent: { disabled: true },
    mcp: { disabled: true },
    defaultOpenAllTags: true,
    hideClientButton: true,
    persistAuth: false,
    documentDownloadType: "json",
    // Guides have long lines: they get two thirds of a wide page, not half of it. And no status breaks in two.
    customCss: `
      @media (min-width: 1200px) { .introduction-section .section-column:first-child { flex: 2 } }
      .introduction-section .markdown :is(th, td):first-child { min-width: 5em }
    `,
  })),
);
