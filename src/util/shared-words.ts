/** How many different words two texts share; short and common ones do not count. */
export function sharedWords(text: string, wanted: ReadonlySet<string>): number {
  let shared = 0
  for (const word of wordsOf(text)) if (wanted.has(word)) shared++
  return shared
}

export function wordsOf(text: string): ReadonlySet<string> {
  const words =
    text
      .slice(0, longestText)
      .toLowerCase()
      .match(/[\p{L}\p{N}]{3,}/gu) ?? []
  return new Set(words.filter((word) => !tooCommon.has(word)))
}

const longestText = 20_000
const tooCommon = new Set('and are can for from has how its our that the this what with you your'.split(' '))
