import { MAX_EXPORTED_ACCESS_LOGS } from "./limits.ts";
import { DAY, HOUR, KIB, MINUTE, SECOND } from "./units.ts";

/*
 * What tunes an isolate, its queues and the cron, and can be changed without that a caller notices. Sizes are in bytes and times
 * in milliseconds.
 */

/** For this long a client is not looked up again, so that a burst of requests costs one look-up. */
export const CLIENT_FRESH_FOR = 10 * SECOND;

/** A background look-up that takes longer counts as lost, and another one may start. */
export const CLIENT_REFRESH_TIMEOUT = 5 * SECOND;

/** For this long an unknown or revoked client is refused without a look-up, so that guessing does not load D1. */
export const CLIENT_REFUSED_FOR = 5 * SECOND;

/** Limits the memory of an isolate: so many known clients, refused ones, addresses beyond their limit, and places. */
export const MAX_REMEMBERED = 10_000;

/** In characters: some ten kilobytes, so that other requests get their turn in between, and a slow caller holds little memory. */
export const CHUNK_LENGTH = 32 * KIB;

/** Entries of the access log that are read at once for a list that is sent while it is made. */
export const EXPORTED_PAGE = 1000;

/**
 * Entries of the access log that a request looks through where it shows only some of them. They are read a second time, in the
 * index, to find where the next request goes on.
 */
export const ACCESS_LOGS_LOOKED_THROUGH = MAX_EXPORTED_ACCESS_LOGS / 2;

/** A reading of a waiting list that was recorded so long ago says nothing of the next one. */
export const WAITING_LIST_READS_KEPT_FOR = HOUR;

/** Entries that are read at once to be sealed: 3 MB of D1's answer, and of the isolate's 128 MB some 15. */
export const SEALED_PAGE = 10_000;

/** Organizations of which one run of the cron seals a day: 1,000 in 20 runs, and so before the third hour of the day. */
export const DAYS_SEALED = 50;

/**
 * After reading so many entries a run begins no further day. A day is read twice, so a run reads 2.5 million entries at most: 250
 * of the 1,000 queries of an invocation.
 */
export const ENTRIES_SEALED = 500_000;

/** After this time, a run begins no further day: the next one goes on, five minutes after this one began. */
export const SEALING_TIME_LIMIT = 4 * MINUTE;

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

/** One run of the cron deletes at most this many transcripts and SOAP notes. Transcripts are long. */
export const TEXTS_DELETED = 500;

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

/** Limits the memory for identity providers in an isolate. */
export const MAX_KNOWN_KEY_SETS = 1000;

/** LiveKit lists the files of an egress: one for each output. More are no such list, and are not looked at. */
export const MAX_EGRESS_FILES = 1000;

/** After errors of the mail provider that pass: its limits count minutes or a day. */
export const MAIL_RETRIES = { first: 5 * MINUTE, longest: 6 * HOUR, jitter: 0.1 };

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

/** Rows of a bulk invite that end in one transaction: D1 takes some tens of milliseconds, in which requests wait. */
export const BULK_INVITE_PORTION = 50;

/** Organizations of which a portion ends in one round. The others have their turn in the next one. */
export const BULK_INVITE_ORGANIZATIONS = 20;

/** After so many portions an invocation begins no further round: D1 takes 1,000 queries of it, and a portion needs some ten. */
export const BULK_INVITE_PORTIONS = 40;

/** With the pauses of a queue, these faults take more than 10 minutes: time to notice a faulty deployment, and to undo it. */
export const BULK_INVITE_FAULTS = 8;

/** Cloudflare Queues takes at most this many messages in one send. */
export const QUEUE_SEND_LIMIT = 100;

/** The clocks of two machines differ by less. What is due so soon is due. */
export const DUE_TOLERANCE = SECOND;

/** In seconds: the pause before the first retry, which doubles with every retry. Cloudflare Queues takes at most 12 hours. */
export const QUEUE_RETRIES = { first: 5, longest: 3600, jitter: 0.5 };

/**
 * A database whose faults take longer, all together, gets no more messages of a batch: they are tried again later. Faults
 * that come at once hold nobody up, and what comes after them may well succeed.
 */
export const QUEUE_FAULTS_TIME = SECOND;

/** What is read of a receiver's response, so that it can finish it. It is not kept. */
export const WEBHOOK_RESPONSE_LIMIT = 4 * KIB;

/** A random part of the delay is added to it, up to this much, so that deliveries that failed together part ways. */
export const WEBHOOK_RETRY_JITTER = 0.1;

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

/** An isolate asks D1 at most this often whether the service is healthy: anybody can ask it. */
export const HEALTH_KNOWN_FOR = 5 * SECOND;

/** One of several databases that takes longer to say how it is, or what it has of a list over all, counts as down. */
export const DATABASE_TIMEOUT = 5 * SECOND;

/** For this long an isolate does not ask the directory again where an organization lives. */
export const PLACE_KNOWN_FOR = MINUTE;

/** What LiveKit said on so many connections of a participant is remembered: a repetition comes soon, and connections are many. */
export const REMEMBERED_CONNECTIONS = 10;
