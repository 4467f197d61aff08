import { notFound, unprocessable } from "../../http/errors.ts";

export const issuerNotFound = () => notFound("Issuer");

export const issuerRegistered = () =>
  unprocessable("issuer.issuer: is already registered for the organization; to change it, delete it first");

/** The fault of a `jwks_url`. */
export const NOT_TRUSTWORTHY = "must be an https URL, or an http one on a loopback host";
