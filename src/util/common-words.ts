import { stem } from './stem.ts'

/** How many different words two texts share, in whatever form; short and common ones do not count. */
export function sharedWords(text: string, wanted: ReadonlySet<string>): number {
  let shared = 0
  for (const word of wordsOf(text)) if (wanted.has(word)) shared++
  return shared
}

/** The stems of the words of a text: `planning trips` has those of `plans a trip`. */
export function wordsOf(text: string): ReadonlySet<string> {
  const words =
    text
      .slice(0, longestText)
      .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .toLowerCase()
      .match(/[\p{L}\p{N}]{3,}/gu) ?? []
  return new Set(words.filter((word) => !tooCommon.has(word)).map(stem))
}

/** Whether a text has a name as words of its own, however short they are. */
export const mentionsName = (text: string, name: string): boolean => apart(text).includes(apart(name))

/** A text with its words apart, so that a name is found as a word, and not inside of one. */
const apart = (text: string): string =>
  ` ${text
    .slice(0, longestText)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `

const longestText = 20_000
const tooCommon = new Set(
  'about all also and any are but can for from had has have here how into its not our please than that the them then there they this was were what when where which who why will with you your'.split(
    ' ',
  ),
)
