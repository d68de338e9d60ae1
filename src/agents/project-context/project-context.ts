import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import type { Problem } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { foldersUpTo } from './find-project-root.ts'
import { readRegularFile } from './read-regular-file.ts'
import { realPathOf } from './real-path-of.ts'

/*
 * `AGENTS.md` is text for the model and nothing else: it grants nothing, so it needs no trust. For the same reason it is
 * bounded, and no link in a cloned folder makes a file from elsewhere part of a prompt.
 */

export const contextFile = 'AGENTS.md'
const mostBytes = 32 * 1024
const mostTogether = 64 * 1024

export interface ContextPlaces {
  readonly workingDirectory: string
  /** The working directory, or a folder above it. */
  readonly projectRoot: string
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
export function projectContext({ workingDirectory, projectRoot }: ContextPlaces): ProjectContext {
  const texts: ContextText[] = []
  const problems: Problem[] = []
  const root = isInside(projectRoot, workingDirectory) ? projectRoot : workingDirectory
  let left = mostTogether
  // The nearest is served first: where the room does not do, what is far away gives way.
  for (const folder of foldersUpTo(workingDirectory, root)) {
    const source = join(folder, contextFile)
    const read = readContext(source, { root, room: Math.max(0, Math.min(mostBytes, left)) })
    if (read.problem) problems.push(read.problem)
    if (read.text === undefined) continue
    texts.push({ source, text: read.text })
    left -= Buffer.byteLength(read.text)
  }
  return { texts: texts.reverse(), problems: problems.reverse() }
}

interface Room {
  readonly root: string
  readonly room: number
}

interface ReadContext {
  readonly text?: string
  readonly problem?: Problem
}

function readContext(source: string, { root, room }: Room): ReadContext {
  const leftOut = (why: string, remedy: string): ReadContext => ({
    problem: { place: source, message: `${contextFile} is left out: ${why}`, remedy },
  })
  const real = realPathOf(source)
  if (real !== undefined && !isInside(realPathOf(root) ?? root, real))
    return leftOut('it is a link that leaves the project', 'Put a copy of the file in its place.')
  const file = readRegularFile(real ?? source, room)
  if (file.kind === 'missing') return {}
  if (file.kind === 'refused') return leftOut(file.why, 'Make it a text file that can be read, or remove it.')
  if (file.size === 0) return {}
  if (room === 0) return leftOut(`those nearer to the working directory have all ${mostTogether} bytes`, 'Shorten them.')
  const whole = file.size <= file.bytes.length
  const bytes = whole ? file.bytes : wholeLetters(file.bytes)
  if (bytes.includes(0) || !isUtf8(bytes)) return leftOut('it is no UTF-8 text', 'Save it as UTF-8.')
  const text = new TextDecoder().decode(bytes).replace(/\r\n?/g, '\n').trim()
  if (whole) return text === '' ? {} : { text }
  const message = `only the first ${bytes.length} of ${file.size} bytes of ${contextFile} are used`
  const remedy = `A file has at most ${mostBytes} bytes, all of them together ${mostTogether}: shorten it.`
  return { text: atLineEnd(text), problem: { place: source, message, remedy } }
}

/** Without the beginning of a letter whose end was cut off. */
function wholeLetters(bytes: Uint8Array): Uint8Array {
  for (let end = bytes.length; end > bytes.length - 4 && end > 0; end--) {
    const part = bytes.subarray(0, end)
    if (isUtf8(part)) return part
  }
  return bytes
}

const atLineEnd = (text: string): string => {
  const end = text.lastIndexOf('\n')
  return `${end > text.length / 2 ? text.slice(0, end) : text}\n[… the rest of this file is left out]`
}
