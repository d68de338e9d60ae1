import { isUtf8 } from 'node:buffer'
import type { Clock, IncomingFile, InputPart } from '../../contracts/index.ts'
import { maxInputPartBytes } from '../../runtime/index.ts'
import { toBase64 } from '../../util/encode-bytes.ts'
import { detectMediaType, isReadableImage, isTextType } from '../../util/media-type.ts'
import { messageOf } from '../../util/message-of.ts'
import { oneLine } from '../../util/one-line.ts'
import { cutText } from '../../util/well-formed.ts'
import { pause, withinTime } from '../shared/background-work.ts'
import type { Channel } from './router-core.ts'

/** For one attempt to read one file. */
const deadlineMs = 20_000
/** For all files of a message: those behind it wait. */
const mostMs = 60_000
const mostAttempts = 3
const retryMs = 1_000
/** Of all files of a message: as much as one request can have. */
const mostBytes = maxInputPartBytes
const mostReasonChars = 200

interface FilesOptions {
  readonly channel: Pick<Channel, 'provider'>
  readonly clock: Clock
  /** Aborted when the channel is removed. */
  readonly signal: AbortSignal
}

export interface ReadFiles {
  /** A file that cannot be sent is a line of text. */
  readonly parts: readonly InputPart[]
  /** Why some were not sent, for the person. */
  readonly problems: readonly string[]
}

/** Reads the files of a message. `undefined`: the signal has aborted. */
export async function readFiles(files: readonly IncomingFile[], options: FilesOptions): Promise<ReadFiles | undefined> {
  const parts: InputPart[] = []
  const problems: string[] = []
  let left = mostBytes
  const until = options.clock.monotonic() + mostMs
  for (const file of files) {
    const read = await readFile(file, { left, until }, options)
    if (options.signal.aborted) return undefined
    const part = typeof read === 'string' ? read : partOf(file, read)
    if (typeof read !== 'string') left -= read.length
    if (typeof part !== 'string') parts.push(part)
    else {
      const problem = `The file ${JSON.stringify(oneLine(file.name))} was not sent to the agent: ${part}.`
      problems.push(problem)
      parts.push({ type: 'text', text: `[${problem}]` })
    }
  }
  return { parts, problems }
}

/** Bytes, and the time at which reading ends. */
interface Room {
  readonly left: number
  readonly until: number
}

/** A text: why it cannot be read. */
async function readFile(file: IncomingFile, { left, until }: Room, { channel, clock, signal }: FilesOptions): Promise<Uint8Array | string> {
  const { provider } = channel
  if (!provider.readFile) return 'its channel cannot read files'
  if ((file.bytes ?? 0) > left) return tooLarge(file.bytes)
  for (let attempt = 1; ; attempt++) {
    const late = new AbortController()
    const ms = Math.min(deadlineMs, until - clock.monotonic())
    if (ms <= 0) return 'reading the files of this message took too long'
    try {
      const read = () => provider.readFile?.(file, AbortSignal.any([signal, late.signal]))
      const bytes = await withinTime(read, { clock, ms, signal })
      if (!(bytes instanceof Uint8Array)) return 'its channel returned no bytes'
      return bytes.length > left ? tooLarge(bytes.length) : bytes
    } catch (error) {
      late.abort()
      if (signal.aborted || attempt === mostAttempts) return `it could not be read: ${cutText(oneLine(messageOf(error)), mostReasonChars)}`
      await pause({ clock, signal, ms: retryMs * 2 ** (attempt - 1) })
    }
  }
}

/** As the other surfaces send files: models read images, PDF, and text. */
function partOf({ name, mediaType: declared }: IncomingFile, bytes: Uint8Array): InputPart | string {
  if (bytes.length === 0) return 'it is empty'
  const found = detectMediaType(bytes, declared)
  const data = toBase64(bytes)
  if (isReadableImage(found)) return { type: 'image', mediaType: found, data }
  const isKnown = found === 'application/pdf' || isTextType(found)
  if (!isKnown && (!isUtf8(bytes) || bytes.includes(0))) return `agents read images, PDF and text, and it is ${found}`
  return { type: 'file', mediaType: isKnown ? found : 'text/plain', data, name: oneLine(name) }
}

const megabytes = (bytes: number): string => `${(bytes / 1024 ** 2).toFixed(1)} MB`

const tooLarge = (bytes = 0): string => `it has ${megabytes(bytes)}, and the files of a message may have ${mostBytes / 1024 ** 2} MB`
