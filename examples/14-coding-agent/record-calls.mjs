import { appendFile } from 'node:fs/promises'

const file = new URL('calls.log', import.meta.url)

/** Called with the result of every call, also of those that the coding agent runs. Writes a line for each. */
export async function afterCall({ tool, input, output }, { sessionId }) {
  await appendFile(file, `${JSON.stringify({ at: new Date().toISOString(), sessionId, tool, input, ok: output.ok })}\n`)
}
