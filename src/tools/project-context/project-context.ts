import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import type { Problem } from '../../contracts/index.ts'
import type { SafeReadBounds } from '../../policy/safe-read.ts'
import { isInside } from '../../util/is-inside.ts'
import { foldersUpTo, readRegularFile, realPathOf } from './project-files.ts'

// `AGENTS.md` is only text for the model and grants nothing, so it needs no trust. It is bounded, and a link in a cloned
// folder cannot bring other files, such as files with keys, into a prompt.

export const contextFile = 'AGENTS.md'
const maxBytes = 32 * 1024
const maxTogether = 64 * 1024

interface ContextPlaces {
  readonly workingDirectory: string
  /** The working directory, or a folder above it. */
  readonly projectRoot: string
  /** Files and folders that are never read, such as journals. Files with keys are never read either. */
  readonly hidden?: readonly string[]
}

interface ContextText {
  readonly source: string
  readonly text: string
}

export interface ProjectContext {
  /** From the project root to the working directory. */
  readonly texts: readonly ContextText[]
  /** Files that were cut or left out. */
  readonly problems: readonly Problem[]
}

/** Reads the `AGENTS.md` files from the project root to the working directory. */
export function projectContext({ workingDirectory, projectRoot, hidden = [] }: ContextPlaces): ProjectContext {
  const texts: ContextText[] = []
  const problems: Problem[] = []
  const root = isInside(projectRoot, workingDirectory) ? projectRoot : workingDirectory
  const real = realPathOf(root) ?? root
  // A store in the project root or above must not hide the project's own `AGENTS.md`.
  const unseen = hidden.flatMap((path) => [path, realPathOf(path) ?? path]).filter((path) => !isInside(path, real))
  let left = maxTogether
  // The nearest files get their space first.
  for (const folder of foldersUpTo(workingDirectory, root)) {
    const source = join(folder, contextFile)
    const read = readContext(source, { root: real, hidden: unseen, maxBytes: Math.max(0, Math.min(maxBytes, left)) })
    if (read.problem) problems.push(read.problem)
    if (read.text === undefined) continue
    texts.push({ source, text: read.text })
    left -= Buffer.byteLength(read.text)
  }
  return { texts: texts.reverse(), problems: problems.reverse() }
}

interface ReadContext {
  readonly text?: string
  readonly problem?: Problem
}

function readContext(source: string, bounds: SafeReadBounds): ReadContext {
  const leftOut = (why: string, remedy: string): ReadContext => ({
    problem: { place: source, message: `${contextFile} is left out: ${why}`, remedy },
  })
  const file = readRegularFile(source, bounds)
  if (file.kind === 'missing') return {}
  if (file.kind === 'outside') return leftOut('it is a link to a file outside the project', 'Replace the link by a copy of the file.')
  if (file.kind === 'withheld') return leftOut(file.why, 'Remove the link.')
  if (file.kind === 'refused') return leftOut(file.why, 'Make it a readable text file, or remove it.')
  if (file.size === 0) return {}
  if (bounds.maxBytes === 0) return leftOut(`files nearer to the working directory use all ${maxTogether} bytes`, 'Make them shorter.')
  const whole = file.size <= file.bytes.length
  const bytes = whole ? file.bytes : cutAtCharacter(file.bytes)
  if (bytes.includes(0) || !isUtf8(bytes)) return leftOut('it is not UTF-8 text', 'Save it as UTF-8.')
  const text = new TextDecoder().decode(bytes).replace(/\r\n?/g, '\n').trim()
  if (whole) return text === '' ? {} : { text }
  const message = `only the first ${bytes.length} of ${file.size} bytes of ${contextFile} are used`
  const remedy = `A file has at most ${maxBytes} bytes, all of them together ${maxTogether}: shorten it.`
  return { text: cutAtLineEnd(text), problem: { place: source, message, remedy } }
}

/** Removes an incomplete character at the end. */
function cutAtCharacter(bytes: Uint8Array): Uint8Array {
  for (let end = bytes.length; end > bytes.length - 4 && end > 0; end--) {
    const part = bytes.subarray(0, end)
    if (isUtf8(part)) return part
  }
  return bytes
}

const cutAtLineEnd = (text: string): string => {
  const end = text.lastIndexOf('\n')
  return `${end > text.length / 2 ? text.slice(0, end) : text}\n[… the rest of this file is omitted]`
}
