import { isUtf8 } from 'node:buffer'
import { TroupeError } from '../../contracts/index.ts'

/** The text of a file, or why it cannot be read as text. */
type DecodedText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly place: string; readonly message: string; readonly remedy: string }

export const maxAgentFileBytes = 1_048_576

/** Decodes UTF-8, removes a byte order mark, and ends lines with `\n`. */
export function decodeText(content: string | Uint8Array, place: string, maxBytes = maxAgentFileBytes): DecodedText {
  if (content.length > maxBytes)
    return { ok: false, place: `${place}:1:1`, message: `the file is larger than ${maxBytes} bytes`, remedy: 'Make it shorter.' }
  const text = typeof content === 'string' ? content : new TextDecoder().decode(content)
  const nul = text.indexOf('\0')
  if (nul !== -1) return { ok: false, place: placeOf(text, nul, place), message: 'the file is binary', remedy: 'Use a text file.' }
  if (typeof content !== 'string' && !isUtf8(content))
    return { ok: false, place: placeOf(text, text.indexOf('\uFFFD'), place), message: 'the file is not UTF-8', remedy: 'Save it as UTF-8.' }
  return { ok: true, text: text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n') }
}

function placeOf(text: string, offset: number, place: string): string {
  const before = text.slice(0, Math.max(0, offset)).split('\n')
  return `${place}:${before.length}:${(before.at(-1) ?? '').length + 1}`
}

/** Throws `agent_file_invalid` if the file is not text. */
export function decodeAgentText(content: string | Uint8Array, place: string): string {
  const decoded = decodeText(content, place)
  if (decoded.ok) return decoded.text
  const { ok: _, ...problem } = decoded
  throw new TroupeError('agent_file_invalid', `the agent file cannot be read as text: ${problem.message}`, { problems: [problem] })
}
