import { notFound, unprocessable } from "../../http/errors.ts";

export const issuerNotFound = () => notFound("Issuer");

export const issuerRegistered = () =>
  unprocessable(
    "issuer_exists",
    "issuer.issuer: is already registered for the organization with this audience; to change the registration, delete it first",
  );

/** The error for a `jwks_url`. */
export const NOT_TRUSTWORTHY = "must be an https URL, or an http URL on a loopback host";
