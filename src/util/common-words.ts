import { stem } from './stem.ts'

/** How many words two texts share, by stem, without short and common words. */
export function sharedWords(text: string, wanted: ReadonlySet<string>): number {
  let shared = 0
  for (const word of wordsOf(text)) if (wanted.has(word)) shared++
  return shared
}

/** The stems of the words of a text: `planning trips` and `plans a trip` have the same. */
export function wordsOf(text: string): ReadonlySet<string> {
  const words =
    text
      .slice(0, maxChars)
      .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .toLowerCase()
      .match(/[\p{L}\p{N}]{3,}/gu) ?? []
  return new Set(words.filter((word) => !tooCommon.has(word)).map(stem))
}

/** Whether a text contains a name as whole words. */
export const mentionsName = (text: string, name: string): boolean => spaced(text).includes(spaced(name))

/** What a query names comes first, then the rest by the number of shared words. What shares none is left out. */
export function rankByWords<T>(
  query: string,
  all: readonly T[],
  describe: (each: T) => { readonly name: string; readonly text: string },
): readonly T[] {
  const wanted = wordsOf(query)
  return all
    .map((each) => {
      const { name, text } = describe(each)
      return { each, name, isNamed: mentionsName(query, name), score: sharedWords(`${name} ${text}`, wanted) }
    })
    .filter(({ isNamed, score }) => isNamed || score > 0)
    .toSorted((a, b) => Number(b.isNamed) - Number(a.isNamed) || b.score - a.score || (a.name < b.name ? -1 : 1))
    .map(({ each }) => each)
}

const spaced = (text: string): string =>
  ` ${text
    .slice(0, maxChars)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `

const maxChars = 20_000
const tooCommon = new Set(
  'about all also and any are but can for from had has have here how into its not our please than that the them then there they this was were what when where which who why will with you your'.split(
    ' ',
  ),
)
