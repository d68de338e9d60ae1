const units =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'
const small = new Map(units.split(' ').map((word, value) => [word, value]))
const tens = new Map('twenty thirty forty fifty sixty seventy eighty ninety'.split(' ').map((word, index) => [word, (index + 2) * 10]))
const scales = new Map([
  ['hundred', 100],
  ['thousand', 1000],
  ['million', 1_000_000],
])
const others = new Map([
  ['dozen', 12],
  ['couple', 2],
  ['single', 1],
  ['half', 0.5],
])

/** The number that the words from `start` on spell out, and how many of them do: "two hundred and five" is four. */
export function spelledNumber(words: readonly string[], start: number): { readonly value: number; readonly length: number } | undefined {
  let total = 0
  let current: number | undefined
  let at = start
  for (; at < words.length; at++) {
    const word = words[at] ?? ''
    const value = plainValue(word)
    const scale = scales.get(word)
    if (value !== undefined && (current === undefined || canFollow(current, value))) current = (current ?? 0) + value
    else if (scale === 100 && current !== undefined) current *= 100
    else if (scale !== undefined && current !== undefined) {
      total += current * scale
      current = undefined
    } else if (word === 'and' && current !== undefined && current >= 100 && plainValue(words[at + 1] ?? '') !== undefined) continue
    else break
  }
  if (current !== undefined || total > 0) return { value: total + (current ?? 0), length: at - start }
  const other = others.get(words[start] ?? '')
  return other === undefined ? undefined : { value: other, length: 1 }
}

function plainValue(word: string): number | undefined {
  const known = small.get(word) ?? tens.get(word)
  if (known !== undefined) return known
  const [ten, unit] = word.split('-')
  const high = tens.get(ten ?? '')
  const low = small.get(unit ?? '')
  return high !== undefined && low !== undefined && low > 0 && low < 10 ? high + low : undefined
}

/** "twenty five" goes on, "two three" does not. */
function canFollow(current: number, value: number): boolean {
  if (current >= 100) return current % 100 === 0 && value < 100
  return current >= 20 && current % 10 === 0 && value > 0 && value < 10
}
