export type { ErrorCode, ErrorCodes } from "../../dist/client/external/operations.gen.js";
export type * from "../../dist/client/external/types.gen.js";
export { type Client, createClient, type PersonToErase } from "./client.ts";
export { type Failure, VideoVisitError, WebhookVerificationError } from "./errors.ts";
export {
  type ExportedVisit,
  type ExportLine,
  IncompleteExportError,
  type PersonToExport,
} from "./export.ts";
export type { EventOfType, EventTypeOrFamily, FollowOptions } from "./follow.ts";
export { type ItemOf, paginate } from "./paginate.ts";
export type { As, CreationOptions, RequestOptions } from "./request.ts";
export type { ClientSettings, PurposeOfUse } from "./settings.ts";
export { VconVerificationError, verifyVcon } from "./vcons.ts";
export { verifyWebhook, type WebhookEvent, type WebhookHeaders } from "./webhooks.ts";
