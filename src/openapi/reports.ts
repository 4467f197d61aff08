/** What every report may say beside its object. */
export const REPORTED_AT = {
  reported_at:
    "When you knew what this report says. Left out: when it arrives. A report that was made before the newest one of the same thing fills in what is not known, and changes nothing else: so send it wherever reports wait in a queue. At most a minute in the future.",
};
