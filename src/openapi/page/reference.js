// On a developer's machine, the credentials of the demo organization and the development token are filled in.
const isDevelopment = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

window.Scalar.createApiReference("#reference", {
  sources: [
    { title: "External API", slug: "external", url: "/api/external/openapi.json" },
    { title: "Platform API", slug: "platform", url: "/api/platform/openapi.json" },
  ],
  authentication: {
    preferredSecurityScheme: [["clientId", "clientSecret"]],
    securitySchemes: isDevelopment ? window.developmentCredentials : {},
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
