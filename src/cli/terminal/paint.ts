import { styleText } from 'node:util'

export type Shade = 'red' | 'green' | 'yellow' | 'cyan' | 'dim' | 'bold' | 'italic' | 'underline'

/** All drawing uses a `Paint`, so that a pipe never gets escape sequences. */
export type Paint = (shade: Shade, text: string) => string

export const plainPaint: Paint = (_shade, text) => text
export const colourPaint: Paint = (shade, text) => (text === '' ? '' : styleText(shade, text, { validateStream: false }))

/** `plain`: a pipe, a file, or a terminal without escape sequences. */
export type Window = 'terminal' | 'plain'

export function windowFor(stream: { readonly isTTY?: boolean }, env: { readonly [name: string]: string | undefined }): Window {
  const refused = (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb'
  return stream.isTTY === true && !refused ? 'terminal' : 'plain'
}

export const paintFor = (window: Window): Paint => (window === 'terminal' ? colourPaint : plainPaint)

/** Untrusted text in one line, safe for a terminal. Only colour and cursor sequences are removed completely: no words may be hidden. */
export function printable(text: string): string {
  return text
    .replace(coloursAndCursors, '')
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '')
    .trim()
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences begin with it
const coloursAndCursors = /(?:\u001b\[|\u009b)\??(?:\d+(?:;\d+)*)?[A-Za-z]/g

/** Untrusted text of several lines, safe for a terminal. Joiners stay: some scripts and many emoji need them. */
export function printableText(text: string): string {
  return text
    .replace(sequences, '')
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .replace(/(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}]/gu, '')
}

/** Control sequences. Of a string sequence that does not end in its line, only the introducer is removed. */
const sequences = new RegExp(
  [
    String.raw`(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?`,
    String.raw`(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])(?:[^\u0000-\u001f\u007f-\u009f]*(?:\u0007|\u001b\\|\u009c))?`,
    String.raw`\u001b[ -/]*[0-~]?`,
  ].join('|'),
  'g',
)

/** Grapheme clusters. */
export function* charactersOf(text: string): Generator<string> {
  for (const { segment } of segmenter.segment(text)) yield segment
}

export const withoutStyles = (text: string): string => text.replace(styles, '')
// biome-ignore lint/suspicious/noControlCharactersInRegex: styles begin with it
const styles = /\u001b\[[\d;]*m/g

/** Columns of a text in most terminals. */
export function widthOf(text: string): number {
  if (narrow.test(text)) return text.length
  let width = 0
  for (const character of charactersOf(text)) width += characterWidth(character)
  return width
}

function characterWidth(character: string): 0 | 1 | 2 {
  if (invisible.test(character)) return 0
  return wide.test(character) ? 2 : 1
}

/** Characters of one column: ASCII, most of Latin, and the glyphs of the tree. */
const narrow = /^[\u0020-\u007e\u00a1-\u00ac\u00ae-\u02ff\u2013-\u2026\u2190-\u21ff\u2500-\u259f\u2800-\u28ff✓✗]*$/
/** Combining characters without a base. */
const invisible = /^[\p{Mn}\p{Me}\p{Cc}\p{Cf}]+$/u
/** Characters of two columns: East Asian scripts and emoji. */
const wide =
  /\p{Emoji_Presentation}|\p{Emoji}\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]/u

/** Cuts or pads a text to a width. */
export function fitWidth(text: string, width: number): string {
  const whole = widthOf(text)
  if (whole <= width) return text + ' '.repeat(width - whole)
  if (width <= 0) return ''
  let cut = ''
  let used = 0
  for (const character of charactersOf(text)) {
    const size = characterWidth(character)
    if (used + size > width - 1) break
    cut += character
    used += size
  }
  return `${cut}…${' '.repeat(width - used - 1)}`
}

const segmenter = new Intl.Segmenter()
