// `npm run dev` serves this file with the credentials of the demo organization in front of it.
const credentials = window.developmentCredentials ?? {};

/** The guides of `npm run dev` have the address with its usual port. This server may have another one. */
async function fetchWithOwnAddress(input, init) {
  const response = await fetch(input, init);
  if (!response.url.endsWith("/openapi.json")) return response;
  const text = (await response.text()).replaceAll(window.developmentServer, location.origin);
  return new Response(text, response);
}

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
    ...(window.developmentServer && { customFetch: fetchWithOwnAddress }),
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
    // What a field means is read without a click, and in the order of the reference.
    expandAllSchemaProperties: true,
    orderRequiredPropertiesFirst: false,
    orderSchemaPropertiesBy: "preserve",
    hideClientButton: true,
    persistAuth: false,
    documentDownloadType: "json",
    customCss: `
      /* Guides have long lines: they get two thirds of a wide page, not half of it. */
      @media (min-width: 1200px) {
        .introduction-section .section-column:first-child { flex: 2 }
        .introduction-section .section-column:last-child { min-width: 340px }
      }
      /* So the title "Authentication" gets a line of its own: beside the names of the schemes it is cut off. */
      .introduction-section div:has(> button [data-testid="auth-indicator"]) { flex-wrap: wrap }
      .introduction-section button:has([data-testid="auth-indicator"]) { flex-basis: 100% }
      /* No word or name in a table breaks in two: what is too wide for a phone scrolls. */
      .markdown table :is(th, td, td code) { word-break: normal !important; overflow-wrap: normal !important }
      .introduction-section .markdown :is(th, td):first-child { min-width: 5em }
      @media (max-width: 599px) {
        .markdown table { display: block !important; overflow-x: auto !important }
        .markdown table :is(td, th):last-child { min-width: 12em }
      }
      /* Long lines are read without scrolling: in the guides, and in responses, where an error is one line. */
      :is(.introduction-section, .scalar-card) pre:has(> :not(.language-curl)) {
        width: auto;
        &, & * { white-space: pre-wrap; overflow-wrap: anywhere }
      }
      /* On a phone the page does not scroll sideways: names of webhooks are long, and have a button beside them. */
      .section-header-label { overflow-wrap: anywhere }
      .references-rendered { overflow-x: clip }
      .scalar-card .tab-list { flex-wrap: wrap; height: auto; overflow: visible }
      /* Examples of errors are named after their texts, which are told apart only by their ends. */
      [role="option"], [role="option"] .truncate { white-space: normal }
      /* The receiver of a webhook is the reader's own server: there is nothing to send from here. */
      [id*="/webhook/"] .show-api-client-button { display: none }
    `,
  })),
);
