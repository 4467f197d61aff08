window.Scalar.createApiReference("#reference", {
  sources: [
    { title: "External API", slug: "external", url: "/api/external/openapi.json" },
    { title: "Platform API", slug: "platform", url: "/api/platform/openapi.json" },
    { title: "LiveKit webhook", slug: "livekit", url: "/api/livekit/openapi.json" },
  ],
  authentication: {
    preferredSecurityScheme: [["clientId", "clientSecret"]],
    // `npm run dev` serves this file with the credentials of the demo organization in front of it.
    securitySchemes: window.developmentCredentials ?? {},
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
});
