/** Generated speech for transcripts. */

const SYLLABLES =
  `a be cal den el for gra hin is jun ka lor men nor op pra qui ras sil ten un vor wen ya zor bri cho dra est
  fal gil hos in kel lum mar nes ol pon ris sta tor ul ver wil
  ty mo sun ach pe rov di klu ema fi jo gen hul ist bek co ru sy ti va ex ub ko ne wa`.split(/\s+/);

const MARKS = ["", "", "", "", "", ",", "?", "."];

/** Returns the same numbers for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export interface SpokenLine {
  participant_key: string;
  text: string;
  start_time: number;
  end_time: number;
}

/**
 * Lines of a transcript, each six seconds and 86 characters long: 600 lines are an hour, with 52 KB of text. gzip
 * reduces this text to 44 percent, and English text to less.
 */
export function spokenLines(speakers: string[], length: number, seed = 1): SpokenLine[] {
  const random = randomFrom(seed);
  const oneOf = <T>(choices: T[]) => choices[Math.floor(random() * choices.length)] as T;
  const syllables = () =>
    Array.from({ length: 1 + Math.floor(2 * random()) }, () => oneOf(SYLLABLES)).join("");
  const word = () => syllables() + oneOf(MARKS);
  const toMilliseconds = (seconds: number) => Math.round(seconds * 1000) / 1000;
  return Array.from({ length }, (_, n) => {
    const words = [word()];
    while (words.join(" ").length < 82) words.push(word());
    const start_time = toMilliseconds(6 * n + random());
    return {
      participant_key: oneOf(speakers),
      text: `${words.join(" ")}.`,
      start_time,
      end_time: toMilliseconds(start_time + 0.5 + 4.5 * random()),
    };
  });
}
