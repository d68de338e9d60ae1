/** Grapheme clusters. */
export function* charactersOf(text: string): Generator<string> {
  for (const { segment } of segmenter.segment(text)) yield segment
}

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
