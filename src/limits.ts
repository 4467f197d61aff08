/** Every limit, lifetime and size of the service, with its reason. Sizes are in bytes and times in milliseconds. */

const KIB = 1024;
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 3600 * SECOND;
export const DAY = 24 * HOUR;

/** Set-up requests have a few short fields. */
export const EXTERNAL_BODY_LIMIT = 64 * KIB;

/** The transcript of an hour is long. */
export const PLATFORM_BODY_LIMIT = 4 * KIB * KIB;

/** Enough for the rows of a large bulk invite. */
export const BULK_INVITES_BODY_LIMIT = KIB * KIB;

/** Tokens can list all groups of a person. And text that is not a JWT should get 401, not 413. */
export const TOKEN_EXCHANGE_BODY_LIMIT = 256 * KIB;

/** An event of LiveKit describes a room, a participant or an egress. Their metadata can be some kilobytes long. */
export const LIVEKIT_BODY_LIMIT = 256 * KIB;

/**
 * Requests with larger bodies are handled one at a time in an isolate: four of the largest at once would take 95 MB of its
 * 128.
 */
export const LARGE_BODY = KIB * KIB;

/** A request with a large body waits at most so long for others, and is read for so long before others begin. */
export const LARGE_BODY_TURN = 10 * SECOND;

/** A request with a large body whose handler takes longer waits for a slow database: the next one begins. */
export const LARGE_BODY_ALONE = SECOND;

/** So many are handled at once then. If their database recovers, two of the largest take 75 MB, and three would take 100. */
export const MAX_LARGE_BODIES = 2;

/** At most so long, so that no more wait for a database that is down than if they came one after the other. */
export const LARGE_BODY_OVER_AFTER = MAX_LARGE_BODIES * LARGE_BODY_TURN;

/** In seconds: the `Retry-After` where it waited in vain. */
export const LARGE_BODY_RETRY_AFTER = 5;

/**
 * Objects and arrays in a JSON body: twice as many as the longest transcript has. An empty one has two characters, and
 * takes some 60 bytes in memory.
 */
export const MAX_JSON_CONTAINERS = 100_000;

/** An error text names this many problems of a body. A list of a thousand rows can have thousands. */
export const MAX_NAMED_FAULTS = 10;

export const DEFAULT_PER_PAGE = 25;

/** Keeps a page a small response and a small read. */
export const MAX_PER_PAGE = 100;

/** Digits of an integer in a path or a query. No value needs so many. */
export const MAX_INTEGER_LENGTH = 1000;

/** Up to this page, offsets are exact integers. */
export const MAX_PAGE = Math.floor(Number.MAX_SAFE_INTEGER / MAX_PER_PAGE);

export const MAX_NAME_LENGTH = 255;

/** RFC 5321: a path has 256 characters, with the address between < and >. */
export const MAX_EMAIL_LENGTH = 254;

export const MAX_KEY_LENGTH = 255;

/** As long as a key: it is the key of another system. */
export const MAX_EXTERNAL_REFERENCE_LENGTH = 255;

/** The slugs of all rooms begin with it. 63 is the length of a DNS label. */
export const MAX_ORGANIZATION_SLUG_LENGTH = 63;

/** A room's slug is made from the organization's and its name, and some characters of a name become eight. */
export const MAX_SLUG_LENGTH = 4000;

export const MAX_THEME_LENGTH = 50;

/** Enough for more digits of a second than any clock has. */
export const MAX_TIMESTAMP_LENGTH = 64;

/** There are three roles. A list that repeats some is accepted. */
export const MAX_ROLE_NAMES = 10;

/** Providers whom one user assists. The ids go to D1 in one parameter. */
export const MAX_ASSISTS = 1000;

/** Subs of a room that are not over yet. The list of them has no pages. */
export const MAX_SUBS = 1000;

/** The duration of a sub without an end. */
export const DEFAULT_SUB_DURATION = 24 * HOUR;

/** For this long a client is not looked up again, so that a burst of requests costs one look-up. */
export const CLIENT_FRESH_FOR = 10 * SECOND;

/** After this time at the latest, a revoked client is refused. Before that, look-ups run in the background. */
export const CLIENT_KNOWN_FOR = 60 * SECOND;

/** A background look-up that takes longer counts as lost, and another one may start. */
export const CLIENT_REFRESH_TIMEOUT = 5 * SECOND;

/** For this long an unknown or revoked client is refused without a look-up, so that guessing does not load D1. */
export const CLIENT_REFUSED_FOR = 5 * SECOND;

/** Limits the memory for known clients in an isolate. */
export const MAX_KNOWN_CLIENTS = 10_000;

/** Limits the memory for unknown and revoked clients in an isolate. */
export const MAX_REFUSED_CLIENTS = 10_000;

/** Limits the memory for addresses that are beyond their limit in an isolate. */
export const MAX_LIMITED_ADDRESSES = 10_000;

/**
 * In each period, an isolate still looks up this many unknown ids for an address that is beyond its limit, so that a right
 * client among them is served. D1 does not notice ten a second.
 */
export const LOOK_UPS_BEYOND_LIMIT = 600;

/** In seconds: the period of the rate limits in wrangler.toml, whose numbers are settings. */
export const RATE_LIMIT_PERIOD = 60;

/** In characters. A UUID has 36. */
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;

/** In characters. It becomes part of each entry of the access log, which is kept for years. */
export const MAX_ACTING_USER_LENGTH = 255;

/** Entries of the access log that a request gets as NDJSON: some megabytes, and as many as it may read. */
export const MAX_EXPORTED_ACCESS_LOGS = 10_000;

/** Lines of NDJSON that are made at once: some hundred kilobytes. */
export const LINES_AT_ONCE = 500;

/**
 * Entries of the access log that a request looks through where it shows only some of them. They are read a second time, in the
 * index, to find where the next request goes on.
 */
export const ACCESS_LOGS_LOOKED_THROUGH = MAX_EXPORTED_ACCESS_LOGS / 2;

/**
 * The same where several calls lead to them. Each is read from the index and the table and goes through a queue, and all of
 * that a second time.
 */
export const ACCESS_LOGS_LOOKED_THROUGH_BY_REFERENCE = 750;

/** A patient who is seen each week has them after ten years. The first entry of each is read, whatever is shown. */
export const MAX_CALLS_OF_REFERENCE = 500;

/** A client that polls a waiting list gets one entry in this period, and not one for each poll. */
export const WAITING_LIST_RECORDED_EVERY = 60 * SECOND;

/** A reading of a waiting list that was recorded so long ago says nothing of the next one. */
export const WAITING_LIST_READS_KEPT_FOR = HOUR;

/** A day is sealed when it is over for so long: requests that began in it have ended. */
export const SEALED_AFTER = HOUR;

/** Entries that are read at once to be sealed: 3 MB of D1's answer, and of the isolate's 128 MB some 15. */
export const SEALED_PAGE = 10_000;

/** Organizations of which one run of the cron seals a day: 1,000 in 20 runs, and so before the third hour of the day. */
export const DAYS_SEALED = 50;

/**
 * After so many entries a run begins no further day: a million takes a third of the 30 seconds of CPU time that Cloudflare
 * gives to a cron, and a tenth of the queries.
 */
export const ENTRIES_SEALED = 1_000_000;

/** After this time, a run begins no further day: the next one goes on, five minutes after this one began. */
export const SEALING_TIME_LIMIT = 4 * MINUTE;

/** A seal comes an hour after its day is over, and the next one a day later. When it is over for so long, it should be there. */
export const NEXT_SEAL_WITHIN = 26 * HOUR;

/** Entries stay in D1 for so long after their day was sealed: more than a year, so that a year can be reviewed. The files stay. */
export const ACCESS_LOGS_KEPT_FOR = 400 * DAY;

/** In seconds: for this long others may keep the public keys. A new key is known before its first seal, which comes in a day. */
export const PUBLIC_KEYS_KEPT_FOR = 300;

/** In seconds: the `Retry-After` where the bucket of the sealed days gave no file. */
export const BUCKET_RETRY_AFTER = 5;

/** A client that does not know for a day whether a request was carried out finds out by other means. */
export const IDEMPOTENCY_KEY_KEPT_FOR = DAY;

/** Random bytes, of which two may name a shard: too many to meet another id. */
export const CLIENT_ID_BYTES = 16;

/** In characters. An id of the service has 22; anything longer is unknown, and is not remembered. */
export const MAX_CLIENT_ID_LENGTH = 64;

/** Too long to guess: 32 characters of hex are 16 random bytes. The README recommends 32 random bytes. */
export const MIN_PLATFORM_TOKEN_LENGTH = 32;

/** The longest range of metrics, in dates: ten years. A response of so many dates has about 400 KB. */
export const MAX_METRICS_DAYS = 3660;

/** The default range of metrics, including today. */
export const DEFAULT_METRICS_DAYS = 30;

/** A line every second for most of a day. */
export const MAX_TRANSCRIPT_LINES = 50_000;

export const MAX_TRANSCRIPT_LINE_LENGTH = 10_000;

/** For summaries of transcripts, and for SOAP notes. */
export const MAX_NOTE_LENGTH = 200_000;

/**
 * The JSON of a transcript, and its WebVTT. A phone can take it, and an isolate of 128 MB can build it. The lines of a
 * report have at most 4 MiB, but the speaker's display name is repeated in each.
 */
export const MAX_TRANSCRIPT_SIZE = 16 * KIB * KIB;

/** The compressed lines of a transcript are stored in parts of this size: as hex, D1's 2 MB hold twice as much. */
export const TRANSCRIPT_PART = 500 * KIB;

/** More than any call has. The report goes to D1 in one parameter. */
export const MAX_CALL_PARTICIPANTS = 500;

/** More than ever wait in a room. The list of them is a single response. */
export const MAX_LISTED_WAITING = 500;

/** How somebody said that they agree: `verbal`, `form`. */
export const MAX_CONSENT_METHOD_LENGTH = 50;

/** The clock of the platform may be ahead of ours by this much. */
export const CONSENT_CLOCK_TOLERANCE = 60 * SECOND;

/**
 * For each participant: nobody decides so often in one visit. The decisions of a report's participants are compared in one
 * parameter, and those of a call are one list without pages.
 */
export const MAX_CONSENT_DECISIONS = 100;

/** A century: longer than any law has records kept. */
export const MAX_RETENTION_DAYS = 36_500;

/** How long a recording's download URL is valid, in seconds (contract, section "Limits"). */
export const RECORDING_URL_LIFETIME = 15 * 60;

/** One run of the cron deletes at most this many recordings. Each is a request to the storage, and a run may send 1,000. */
export const RECORDINGS_DELETED = 500;

/** Recordings that are deleted together. A legal hold that comes meanwhile may be too late for them. */
export const RECORDING_DELETION_PORTION = 100;

/** After this time, a run of the cron begins no further deletions of files. The next run starts after five minutes. */
export const FILE_DELETIONS_TIME_LIMIT = MINUTE;

/** A storage that takes longer counts as down. */
export const FILE_DELETION_TIMEOUT = 10 * SECOND;

/** A Worker has at most six connections at the same time. */
export const FILE_DELETIONS_AT_ONCE = 6;

/** In seconds: the `Retry-After` if a file could not be deleted. The cron tries again every five minutes. */
export const FILE_DELETION_RETRY_AFTER = 60;

/** One run of the cron deletes at most this many transcripts, and as many SOAP notes. Transcripts are long. */
export const TRANSCRIPTS_DELETED = 500;

/** The longest key of an object in S3, in bytes of UTF-8. */
export const MAX_STORAGE_KEY_LENGTH = 1024;

/** A recording backend describes a failure in a line or two. */
export const MAX_ERROR_LENGTH = 2000;

/** A sentence or two: an order of a court, a number of a case. */
export const MAX_HOLD_REASON_LENGTH = 1000;

/** For an issuer, an audience, and the URL of the keys. */
export const MAX_ISSUER_LENGTH = 1000;

/** For tokens and codes of all kinds. A wrong one is refused for what it says, even if it is very long. */
export const MAX_TOKEN_LENGTH = TOKEN_EXCHANGE_BODY_LIMIT;

/** A clock may differ by this much from that of an identity provider when a token begins. Its end is exact. */
export const TOKEN_CLOCK_TOLERANCE = 60 * SECOND;

/** Then the keys of an identity provider are fetched again, so that a withdrawn key is no longer trusted. */
export const KEYS_KNOWN_FOR = 10 * MINUTE;

/** Tokens with unknown keys make the service fetch the keys again, but not more often than this. */
export const KEYS_COOLDOWN = 30 * SECOND;

/** An identity provider that takes longer counts as down. */
export const KEYS_TIMEOUT = 5 * SECOND;

/** A set of a hundred keys of RSA is smaller. */
export const KEYS_BODY_LIMIT = 128 * KIB;

/** In the set of an identity provider. Few have more than ten. */
export const MAX_KEYS = 200;

/** A token that does not name its key is tried against so many that fit it: each is a signature to verify. */
export const MAX_KEYS_TRIED = 10;

/** A request waits this long for another request that fetches the same keys. Then it fetches them itself. */
export const KEYS_WAIT = SECOND;

/** The pause between two looks at another request's fetch of the keys. */
export const KEYS_POLL = 20;

/** Limits the memory for identity providers in an isolate. */
export const MAX_KNOWN_KEY_SETS = 1000;

/** In seconds: the `Retry-After` while an identity provider is down. */
export const PROVIDER_RETRY_AFTER = 5;

/** Too many random bytes to guess. */
export const AUTHORIZATION_CODE_BYTES = 32;

/** The redirect with the code follows at once. */
export const AUTHORIZATION_CODE_LIFETIME = 60 * SECOND;

/** An expired code is useless, but helps to find out what happened, for a day. */
export const AUTHORIZATION_CODE_KEPT_FOR = DAY;

export const DEFAULT_INVITE_VALIDITY_DAYS = 7;

export const MAX_INVITE_VALIDITY_DAYS = 30;

/** A key for HMAC-SHA-256 must be at least as long as the digest (RFC 7518, section 3.2). */
export const MIN_HMAC_KEY_LENGTH = 32;

/** A key for HMAC-SHA-256, as above. LiveKit asks for as much. */
export const MIN_LIVEKIT_SECRET_LENGTH = 32;

/** The clock of LiveKit's server may differ by this much from ours. Its tokens are valid for five minutes. */
export const LIVEKIT_CLOCK_TOLERANCE = 60 * SECOND;

/** LiveKit lists the files of an egress: one for each output. More are no such list, and are not looked at. */
export const MAX_EGRESS_FILES = 1000;

/**
 * The clock of LiveKit may differ by this much from the platform's: a call whose key is the name of a room may have started so much
 * later than the room. triggers/livekit_egresses.sql has it too.
 */
export const LIVEKIT_ROOM_TOLERANCE = 5 * MINUTE;

/** What LiveKit said of an egress waits so long for its call to be reported. */
export const LIVEKIT_EGRESS_KEPT_FOR = DAY;

/** After an invite was created or sent again, it is not sent again for so long: a person needs longer to miss a mail. */
export const INVITE_RESEND_PAUSE = MINUTE;

/** Mails that an organization sends in MAIL_LIMIT_PERIOD: two full bulk invites. */
export const MAX_ORGANIZATION_MAILS = 2000;

/** Mails to one address in MAIL_LIMIT_PERIOD, of all organizations together: an invite, and two that were asked for again. */
export const MAX_ADDRESS_MAILS = 3;

/** A day, as the quotas of mail providers: a person who really is invited by a fourth organization gets its mail tomorrow. */
export const MAIL_LIMIT_PERIOD = DAY;

/** The pause after a first error that passes. It doubles each time: the limits of a provider count minutes or a day. */
export const MAIL_RETRY_DELAY = 5 * MINUTE;

export const MAIL_RETRY_LONGEST = 6 * HOUR;

/** A random part of the pause is added to it, up to this much, so that mails that failed together part ways. */
export const MAIL_RETRY_JITTER = 0.1;

/** For this long a leased mail is left to the consumer that leased it. A provider that lives has answered by then. */
export const MAIL_LEASE = 5 * MINUTE;

/** A mail that the provider has not answered for so long may have been sent, or not. */
export const MAIL_TIMEOUT = 20 * SECOND;

/** How often a mail is leased without it being known what came of it. Then it may have been sent twice, and is given up. */
export const MAX_MAIL_LEASES = 2;

/** Mails in one invocation: D1 takes 1,000 queries of it, and a mail needs seven. */
export const MAIL_PORTION = 100;

/**
 * After this time an invocation begins no mail, and leaves the rest to a message of its own: there is one at a time, so that
 * those of other databases wait. All of a portion are sent by then, unless D1 or the provider is slow.
 */
export const MAIL_TURN = 15 * SECOND;

/** Mails sent at the same time. A Worker has six connections, and D1 and the queue need some. */
export const MAILS_AT_ONCE = 4;

export const MAX_BULK_INVITES = 1000;

/** Invites of an organization that were not used, expired or not. No organization waits for so many people at a time. */
export const MAX_UNUSED_INVITES = 10_000;

/** Rows of bulk invites that an organization sends in `BULK_ROWS_PERIOD`: all of a large one, twice. */
export const MAX_BULK_ROWS = 20_000;

export const BULK_ROWS_PERIOD = DAY;

/** In seconds: the `Retry-After` when an organization has sent as many rows as it can. */
export const BULK_ROWS_RETRY_AFTER = 3600;

/** Rows in one queue message: a compromise between few messages and few rows lost with a failing message. */
export const BULK_INVITE_CHUNK = 50;

/** Cloudflare Queues takes at most this many messages in one send. */
export const QUEUE_SEND_LIMIT = 100;

/** The clocks of two machines differ by less. What is due so soon is due. */
export const DUE_TOLERANCE = SECOND;

/**
 * In seconds: the shortest pause before the first retry. It doubles with every retry, so the seven retries in
 * wrangler.toml take more than 10 minutes.
 */
export const QUEUE_RETRY_DELAY = 5;

/** A random part of the pause is added to it, up to this much, so that messages that failed together part ways. */
export const QUEUE_RETRY_JITTER = 0.5;

/**
 * A database whose faults take longer, all together, gets no more messages of a batch: they are tried again later. Faults
 * that come at once hold nobody up, and what comes after them may well succeed.
 */
export const QUEUE_FAULTS_TIME = SECOND;

/** In seconds: an hour. Cloudflare Queues takes at most 12 hours. */
export const QUEUE_RETRY_LONGEST = 3600;

/**
 * Rows that are still pending this long after they were queued count as lost. It is longer than a message is retried,
 * its time as a dead letter included (18 minutes): otherwise a failing message would be joined by more and more copies.
 */
export const BULK_INVITE_LOST_AFTER = 30 * MINUTE;

/** One run of the cron queues this many bulk invites again: at most 10,000 messages, in 100 sends. */
export const BULK_INVITES_REQUEUED = 500;

/** The emails and names in the rows are needed to look up what failed. After this time nobody does. */
export const BULK_INVITE_PERSONAL_DATA_KEPT_FOR = 30 * DAY;

/** A client that was down for longer reads the things themselves again. */
export const EVENTS_KEPT_FOR = 30 * DAY;

/** A few systems of an organization listen, each perhaps with a second endpoint while it moves. */
export const MAX_WEBHOOK_ENDPOINTS = 10;

/** More than there are. A list that repeats some is accepted. */
export const MAX_EVENT_TYPE_NAMES = 100;

/** What all servers and proxies take. */
export const MAX_WEBHOOK_URL_LENGTH = 2000;

/** Standard Webhooks asks for 24 to 64. */
export const WEBHOOK_SECRET_BYTES = 32;

/** Enough to give a receiver the new secret. Until then, deliveries are signed with the old one too. */
export const OLD_WEBHOOK_SECRET_LIFETIME = DAY;

/** Old secrets that sign at the same time. There are several only if somebody rotates again within a day. */
export const MAX_OLD_WEBHOOK_SECRETS = 5;

/** A receiver that takes longer counts as failed. Standard Webhooks recommends 15 to 30 seconds. */
export const WEBHOOK_TIMEOUT = 15 * SECOND;

/** What is read of a receiver's response, so that it can finish it. It is not kept. */
export const WEBHOOK_RESPONSE_LIMIT = 4 * KIB;

/** After each failed attempt, the time until the next. Then a delivery is given up, more than three days after the first. */
export const WEBHOOK_RETRY_DELAYS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** A random part of the delay is added to it, up to this much, so that deliveries that failed together part ways. */
export const WEBHOOK_RETRY_JITTER = 0.1;

/** A receiver's `Retry-After` that is longer counts as this: it must not put off a delivery for good. */
export const MAX_WEBHOOK_RETRY_AFTER = DAY;

/** An endpoint at which everything fails for so long is disabled. */
export const WEBHOOK_FAILING_FOR = 5 * DAY;

/** Endpoints that one look for what is due finds. Each needs a message. */
export const WEBHOOK_DUE_PORTION = 1000;

/** Deliveries that a lane takes at once. */
export const WEBHOOK_LANE_PORTION = 50;

/**
 * A lane sends nothing after this. With the timeout of its last request it ends within the 30 seconds that Cloudflare
 * gives to work in the background.
 */
export const WEBHOOK_LANE_TIME = 10 * SECOND;

/** For this long an endpoint is left to its lane. A lane that lives has ended by then. */
export const WEBHOOK_LEASE = 40 * SECOND;

/** A lane writes its results when it has so many. If it dies, at most so many are sent again. */
export const WEBHOOK_RESULTS_PORTION = 10;

/** After so many failures in a row, a lane leaves the endpoint in peace for a while. */
export const WEBHOOK_FAILURES_IN_A_ROW = 10;

/** A failing endpoint is left in peace for as long as it has been failing, within these limits. */
export const MIN_WEBHOOK_PAUSE = 5 * SECOND;
export const MAX_WEBHOOK_PAUSE = MINUTE;

/** A queue message waits for a delivery that is due within this time. The cron, which is less punctual, sees to others. */
export const WEBHOOK_NUDGE_AHEAD = 15 * MINUTE;

/** An isolate sends a queue a message at most this often, to say that something may be due. */
export const NUDGE_INTERVAL = SECOND;

/** Lanes in one invocation, which has six connections at a time. Those to D1 and the queue count too. */
export const WEBHOOK_LANES_AT_ONCE = 4;

/** Events that one request for redelivery sends again. D1 writes them in some hundredths of a second. */
export const WEBHOOK_REDELIVERY_PORTION = 1000;

/**
 * One run of the cron changes this many rows for each chore. D1 runs one query at a time, so that a longer one would
 * hold up requests. In a day, this makes half a million rows.
 */
export const CRON_PORTION = 2000;

/**
 * The organizations among which a run of the cron divides each portion first. Those who need less leave the rest to the
 * others; if more than these have so much to work off, some wait for another run.
 */
export const CRON_TURNS = 20;

/** A chore looks at so many organizations at least, also for a smaller portion: many of them may have nothing to work off. */
export const OWNERS_ASKED = 100;

/**
 * A call or a wait of which no report has changed anything for this long counts as over: no visit is so long without
 * anybody coming, leaving or speaking.
 */
export const SILENCE_UNTIL_END = DAY;

/**
 * One run of the cron ends at most this many calls. Those who are on them go to D1 in one parameter, and MAX_CALL_PARTICIPANTS
 * on each still fit.
 */
export const CALLS_ENDED = 100;

/** No report of a running egress for this long: then the cron asks LiveKit whether it missed one. */
export const EGRESS_SILENCE = 10 * MINUTE;

/** The pause until LiveKit is asked again. A little shorter than the cron's, so that its next run does. */
export const EGRESS_CHECK_PAUSE = 4 * MINUTE;

/**
 * Without a report for this long, LiveKit is asked less and less often: the pause is then as long as the silence. So it
 * is from the beginning for an egress that LiveKit does not know.
 */
export const EGRESS_LONG_SILENCE = DAY;

/** One run of the cron asks about this many egresses. Each takes up to three subrequests, of which Workers allow 1,000. */
export const EGRESSES_CHECKED = 100;

/** Requests to LiveKit at the same time. A Worker may have six. */
export const LIVEKIT_CONNECTIONS = 4;

/** A LiveKit server that takes longer counts as down. */
export const LIVEKIT_TIMEOUT = 5 * SECOND;

/** After this time, a run of the cron asks no more: the next one goes on. */
export const LIVEKIT_TIME_LIMIT = MINUTE;

/** The description of an egress has a few KiB, and there is one in a response. */
export const LIVEKIT_ANSWER_LIMIT = KIB * KIB;

/** The token for LiveKit's API outlives the run that it is made for, but not by much. */
export const LIVEKIT_TOKEN_LIFETIME = 2 * MINUTE;

/** A report that meets others on the same rows is decided again. More attempts were never needed. */
export const MAX_WRITE_ATTEMPTS = 15;

/** An attempt counts as at least this long, in the random waits between attempts. */
export const MIN_WRITE_ATTEMPT = 10;

/** No wait is longer than so many attempts: within them, thirty reports on one record find their turns. */
export const MAX_WRITE_BACKOFF = 16;

/** No attempt begins after this: a reporter that waits longer has given up. */
export const WRITE_TIME_LIMIT = 10 * SECOND;

/** In seconds: the `Retry-After` when all attempts failed. */
export const WRITE_RETRY_AFTER = 1;

/** In seconds: the `Retry-After` when D1 is overloaded or cannot be reached. */
export const DATABASE_RETRY_AFTER = 5;

/** An isolate asks D1 at most this often whether the service is healthy: anybody can ask it. */
export const HEALTH_KNOWN_FOR = 5 * SECOND;

/** One of several databases that takes longer to say how it is counts as down. */
export const HEALTH_TIMEOUT = 5 * SECOND;

/** One of several databases that takes longer counts as down in a list over all of them. */
export const LIST_TIMEOUT = 5 * SECOND;

/** For this long an isolate does not ask the directory again where an organization lives. */
export const PLACE_KNOWN_FOR = MINUTE;

/** Limits the memory of an isolate for places. */
export const MAX_KNOWN_PLACES = 10_000;
