import { styleText } from 'node:util'

type Shade = 'red' | 'green' | 'yellow' | 'cyan' | 'dim' | 'bold'

/** Colours, or none. Everything that is drawn goes through one of these, so that a pipe never sees an escape. */
export type Paint = (shade: Shade, text: string) => string

export const plainPaint: Paint = (_shade, text) => text
export const colourPaint: Paint = (shade, text) => (text === '' ? '' : styleText(shade, text, { validateStream: false }))

/** Colours on a terminal that has them, unless somebody said no. */
export function paintFor(stream: { readonly isTTY?: boolean }, env: { readonly [name: string]: string | undefined }): Paint {
  const refused = (env.NO_COLOR ?? '') !== '' || env.TERM === 'dumb'
  return stream.isTTY === true && !refused ? colourPaint : plainPaint
}

/** Text from a model, a tool or a file in one line, unable to steer a terminal. */
export function printable(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '')
    .trim()
}

/** How many columns a text takes; close enough for names and titles. */
export function widthOf(text: string): number {
  let width = 0
  for (const { segment } of segmenter.segment(text))
    width += /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u.test(
      segment,
    )
      ? 2
      : 1
  return width
}

/** Cuts or pads a text to a width. */
export function fitWidth(text: string, width: number): string {
  if (widthOf(text) <= width) return text + ' '.repeat(width - widthOf(text))
  let cut = ''
  let used = 0
  for (const { segment } of segmenter.segment(text)) {
    const size = widthOf(segment)
    if (used + size > width - 1) break
    cut += segment
    used += size
  }
  return `${cut}…${' '.repeat(Math.max(0, width - used - 1))}`
}

const segmenter = new Intl.Segmenter()
