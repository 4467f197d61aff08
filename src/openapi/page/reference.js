// On this machine the demo organization's client, and the development token, are filled in.
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
  // Nothing is asked of any other host.
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
