/** For the body of every report. */
export const REPORTED_AT = {
  reported_at:
    "When you knew the content of this report. The default is when it arrives. A report made before the newest one about the same object only fills in missing fields, so send this wherever reports wait in a queue. At most a minute in the future.",
};
