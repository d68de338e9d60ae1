import type { InputPart } from '../../contracts/index.ts'
import { shellWord } from '../../util/shell-word.ts'
import { textOfParts } from '../../util/text-of-parts.ts'
import type { TurnSettings } from '../state/turn-settings.ts'

interface CurlMessage {
  /** The address of the server: `http://127.0.0.1:8787`. */
  readonly origin: string
  readonly sessionId: string
  readonly parts: readonly InputPart[]
  readonly settings?: TurnSettings | undefined
}

/** Shells take arguments of 128 KB. */
const maxBody = 100_000

/**
 * A command for a POSIX shell that sends a message to a session. It contains no token: the shell has it in `TOKEN`.
 * `isShortened`: attachments that do not fit into a command, or are only stored on the server, are left out.
 */
export function curlCommand({ origin, sessionId, parts, settings }: CurlMessage): {
  readonly command: string
  readonly isShortened: boolean
} {
  const complete = JSON.stringify({ input: inputOf(parts), ...settings })
  const isShortened = complete.length > maxBody || parts.some((part) => part.type !== 'text' && part.data.startsWith('blob:'))
  const body = isShortened ? JSON.stringify({ input: textOfParts(parts, '\n\n').slice(0, maxBody / 2) || 'Hello', ...settings }) : complete
  const lines = [
    `curl -X POST ${shellWord(`${origin}/v1/sessions/${encodeURIComponent(sessionId)}/messages`)}`,
    '-H "Authorization: Bearer $TOKEN"',
    "-H 'Content-Type: application/json'",
    `--data-raw ${shellWord(body)}`,
  ]
  return { command: lines.join(' \\\n  '), isShortened }
}

function inputOf(parts: readonly InputPart[]): string | readonly InputPart[] {
  const [only] = parts
  if (!only) return 'Hello'
  return parts.length === 1 && only.type === 'text' ? only.text : parts
}
