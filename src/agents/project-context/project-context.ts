import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import type { Problem } from '../../contracts/index.ts'
import type { SafeReadBounds } from '../../policy/safe-read.ts'
import { isInside } from '../../util/is-inside.ts'
import { foldersUpTo, readRegularFile, realPathOf } from './project-files.ts'

/*
 * `AGENTS.md` is text for the model and nothing else: it grants nothing, so it needs no trust. For the same reason it is
 * bounded, and no link in a cloned folder makes a file from elsewhere part of a prompt, nor one with keys.
 */

export const contextFile = 'AGENTS.md'
const maxBytes = 32 * 1024
const maxTogether = 64 * 1024

export interface ContextPlaces {
  readonly workingDirectory: string
  /** The working directory, or a folder above it. */
  readonly projectRoot: string
  /** Files and folders that nobody sees, such as journals. Those with keys are never read. */
  readonly hidden?: readonly string[]
}

export interface ContextText {
  /** The path of the file. */
  readonly source: string
  readonly text: string
}

export interface ProjectContext {
  /** From the project root to the working directory: what is nearest comes last. */
  readonly texts: readonly ContextText[]
  /** What was cut or left out, and why. */
  readonly problems: readonly Problem[]
}

/** What the `AGENTS.md` files from the project root down to the working directory say. */
export function projectContext({ workingDirectory, projectRoot, hidden = [] }: ContextPlaces): ProjectContext {
  const texts: ContextText[] = []
  const problems: Problem[] = []
  const root = isInside(projectRoot, workingDirectory) ? projectRoot : workingDirectory
  const real = realPathOf(root) ?? root
  // Who keeps journals right in the project, or above it, has an `AGENTS.md` among them.
  const unseen = hidden.flatMap((path) => [path, realPathOf(path) ?? path]).filter((path) => !isInside(path, real))
  let left = maxTogether
  // The nearest is served first: where the room does not do, what is far away gives way.
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
  if (file.kind === 'outside') return leftOut('it is a link that leaves the project', 'Put a copy of the file in its place.')
  if (file.kind === 'withheld') return leftOut(file.why, 'Remove the link, and find out who made it.')
  if (file.kind === 'refused') return leftOut(file.why, 'Make it a text file that can be read, or remove it.')
  if (file.size === 0) return {}
  if (bounds.maxBytes === 0) return leftOut(`those nearer to the working directory have all ${maxTogether} bytes`, 'Shorten them.')
  const whole = file.size <= file.bytes.length
  const bytes = whole ? file.bytes : cutAtCharacter(file.bytes)
  if (bytes.includes(0) || !isUtf8(bytes)) return leftOut('it is no UTF-8 text', 'Save it as UTF-8.')
  const text = new TextDecoder().decode(bytes).replace(/\r\n?/g, '\n').trim()
  if (whole) return text === '' ? {} : { text }
  const message = `only the first ${bytes.length} of ${file.size} bytes of ${contextFile} are used`
  const remedy = `A file has at most ${maxBytes} bytes, all of them together ${maxTogether}: shorten it.`
  return { text: cutAtLineEnd(text), problem: { place: source, message, remedy } }
}

/** Without the beginning of a letter whose end was cut off. */
function cutAtCharacter(bytes: Uint8Array): Uint8Array {
  for (let end = bytes.length; end > bytes.length - 4 && end > 0; end--) {
    const part = bytes.subarray(0, end)
    if (isUtf8(part)) return part
  }
  return bytes
}

const cutAtLineEnd = (text: string): string => {
  const end = text.lastIndexOf('\n')
  return `${end > text.length / 2 ? text.slice(0, end) : text}\n[… the rest of this file is left out]`
}
