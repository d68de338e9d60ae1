import { TroupeError } from '../../contracts/index.ts'

/** The one limit on files of agents. */
export const maxAgentFileBytes = 1_048_576

/** The text of an agent file: UTF-8, without a byte order mark, lines ended by `\n`. Throws `agent_file_invalid` where it is no text. */
export function decodeText(content: string | Uint8Array, place: string): string {
  if (content.length > maxAgentFileBytes)
    throw noText(`${place}:1:1`, `the file is larger than ${maxAgentFileBytes} bytes`, 'An agent file is a prompt with a few settings.')
  const text = typeof content === 'string' ? content : new TextDecoder().decode(content)
  const nul = text.indexOf('\0')
  if (nul !== -1) throw noText(placeOf(text, nul, place), 'the file is binary', 'An agent file is text.')
  if (typeof content !== 'string' && !isUtf8(content)) {
    throw noText(placeOf(text, text.indexOf('\uFFFD'), place), 'the file is not UTF-8', 'Save it as UTF-8.')
  }
  return text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

function placeOf(text: string, offset: number, place: string): string {
  const before = text.slice(0, Math.max(0, offset)).split('\n')
  return `${place}:${before.length}:${(before.at(-1) ?? '').length + 1}`
}

function noText(place: string, message: string, remedy: string): TroupeError {
  return new TroupeError('agent_file_invalid', `the agent file cannot be read as text: ${message}`, {
    problems: [{ place, message, remedy }],
  })
}
