import { isOwnFile, readContent } from './agent-paths.ts'
import { dialectIn } from './foreign-file.ts'

/** Whether a file that was found in a folder is an agent: a folder of agents has other files, too. */
export function isAgentFile(path: string): boolean {
  if (isOwnFile(path)) return true
  const content = readContent(path)
  // What cannot be read is told by whoever reads it.
  return !content.ok || looksLikeAgent(path, content.bytes)
}

/** The same for a file that was read. */
export const looksLikeAgent = (path: string, bytes: Uint8Array): boolean => isOwnFile(path) || dialectIn(path, bytes) !== undefined
