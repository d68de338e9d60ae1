// Terminal output as plain text, without escape sequences.

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: they are removed
const escapes =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[ -/]*[0-Z\\^-~]|\u009b[0-?]*[ -/]*[@-~]/g
/** A letter that was struck over, as manual pages do for bold. */
const struckOver = /[^\n]\u0008/g
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: they are removed
export function plainText(text: string): string {
  const printed = text.replaceAll(escapes, '').replaceAll(struckOver, '')
  const lines = printed.includes('\r') ? printed.split('\n').map(lastState).join('\n') : printed
  return lines.replaceAll(controls, '')
}

/** The last state of a line that was overwritten, like a progress bar. Not a regular expression, because a line can be long. */
function lastState(line: string): string {
  let end = line.length
  while (line[end - 1] === '\r') end--
  return line.slice(line.lastIndexOf('\r', end - 1) + 1, end)
}

/** Longer sequences are not escapes. */
const longestEscape = 1024

/** Text that arrives in chunks; characters and escape sequences stay whole. */
export class LiveText {
  readonly #decoder = new TextDecoder()
  #carried = ''

  add(piece: Uint8Array): string {
    const whole = `${this.#carried}${this.#decoder.decode(piece, { stream: true })}`
    const cut = whole.endsWith('\r') ? whole.length - 1 : openEscape(whole)
    this.#carried = whole.slice(cut)
    return shown(whole.slice(0, cut))
  }

  end(): string {
    const rest = `${this.#carried}${this.#decoder.decode()}`
    this.#carried = ''
    return shown(rest)
  }
}

/** The start of an incomplete escape sequence. */
function openEscape(text: string): number {
  const start = text.lastIndexOf('\u001b')
  if (start < 0 || text.length - start > longestEscape) return text.length
  escapes.lastIndex = 0
  const isWhole = text.slice(start).search(escapes) === 0
  // The end of a longer one is an escape, too.
  if (isWhole) return text.length
  const before = text.lastIndexOf('\u001b', start - 1)
  const isEndOfLonger =
    start === text.length - 1 && before >= 0 && text.length - before <= longestEscape && /^[\]PX^_]/.test(text[before + 1] ?? '')
  return isEndOfLonger ? before : start
}

/** Overwritten lines become separate lines. */
const shown = (text: string): string =>
  text.replaceAll(escapes, '').replaceAll('\r\n', '\n').replaceAll('\r', '\n').replaceAll(controls, '')
