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

export const withoutStyles = (text: string): string => text.replace(styles, '')
// biome-ignore lint/suspicious/noControlCharactersInRegex: styles begin with it
const styles = /\u001b\[[\d;]*m/g
