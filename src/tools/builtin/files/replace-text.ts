export interface Edit {
  readonly old: string
  readonly new: string
  readonly replaceAll: boolean
}

type Replaced =
  | { readonly kind: 'replaced'; readonly text: string; readonly count: number }
  | { readonly kind: 'missing' }
  /** The first lines of all places. */
  | { readonly kind: 'several'; readonly lines: readonly number[] }
  | { readonly kind: 'excessive' }

const mostPlaces = 100_000
const largestText = 64 * 1024 * 1024

/** Exact except for line endings: a model does not see which ones a file has. */
export function replaceText(text: string, edit: Edit): Replaced {
  const usesCrlf = isCrlf(text)
  const found = placesOf(text, edit.old)
  if (found.length > 0 || !text.includes('\r\n')) return replaced(text, found, { ...edit, usesCrlf })
  return replaced(text, looselyPlaced(text, edit.old), { ...edit, usesCrlf })
}

function isCrlf(text: string): boolean {
  let [pairs, all] = [0, 0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    all++
    if (text[at - 1] === '\r') pairs++
  }
  return pairs * 2 > all
}

interface Span {
  readonly start: number
  readonly end: number
}

function replaced(text: string, spans: readonly Span[], edit: Edit & { readonly usesCrlf: boolean }): Replaced {
  if (spans.length === 0) return { kind: 'missing' }
  if (spans.length >= mostPlaces) return { kind: 'excessive' }
  if (spans.length > 1 && !edit.replaceAll) return { kind: 'several', lines: linesOfSpans(text, spans) }
  const fresh = edit.usesCrlf ? edit.new.replaceAll(/\r?\n/g, '\r\n') : edit.new
  if (text.length + spans.length * fresh.length > largestText) return { kind: 'excessive' }
  let result = ''
  let at = 0
  for (const { start, end } of spans) {
    result += text.slice(at, start) + fresh
    at = end
  }
  return { kind: 'replaced', text: result + text.slice(at), count: spans.length }
}

function placesOf(text: string, wanted: string): readonly Span[] {
  const spans: Span[] = []
  for (let at = text.indexOf(wanted); at >= 0 && spans.length < mostPlaces; at = text.indexOf(wanted, at + wanted.length))
    spans.push({ start: at, end: at + wanted.length })
  return spans
}

/** Treats CRLF as LF on both sides. */
function looselyPlaced(text: string, wanted: string): readonly Span[] {
  const returns: number[] = []
  let plain = ''
  let from = 0
  for (let at = text.indexOf('\r\n'); at >= 0; at = text.indexOf('\r\n', at + 2)) {
    plain += text.slice(from, at)
    returns.push(plain.length)
    from = at + 1
  }
  plain += text.slice(from)
  const original = (position: number): number => position + countBelow(returns, position)
  return placesOf(plain, wanted.replaceAll('\r\n', '\n')).map(({ start, end }) => ({ start: original(start), end: original(end) }))
}

function countBelow(numbers: readonly number[], limit: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] ?? 0) < limit) low = middle + 1
    else high = middle
  }
  return low
}

function linesOfSpans(text: string, spans: readonly Span[]): readonly number[] {
  const lines: number[] = []
  let [line, at] = [1, 0]
  for (const { start } of spans) {
    for (let next = text.indexOf('\n', at); next >= 0 && next < start; next = text.indexOf('\n', at)) {
      line++
      at = next + 1
    }
    lines.push(line)
  }
  return lines
}
