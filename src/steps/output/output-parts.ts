import type { BlobId, OutputPart, StoredPart, ToolPart } from '../../contracts/index.ts'
import { utf8Length } from '../../util/fit-text.ts'
import { detectMediaType, isTextType } from '../../util/media-type.ts'
import type { ActiveSession } from '../session/active-session.ts'
import { linkText, sizeText, storedPartText } from './part-text.ts'
import { storeBlob } from './store-blob.ts'

// Parts of an output: bytes go to the blob store, the journal gets their handles.

const megabyte = 1024 ** 2
/** What is larger is dropped, and a text says so. */
const partLimits = { bytes: 10 * megabyte, callBytes: 20 * megabyte, count: 50 } as const

type Bytes = Extract<ToolPart, { readonly data: Uint8Array }>

/** Reads each field once. Throws if one is wrong. */
export function readParts(given: unknown): readonly ToolPart[] | undefined {
  if (given === undefined) return undefined
  if (!Array.isArray(given)) throw new Error('"parts" is not a list')
  return given.map(readPart)
}

function readPart(given: unknown, index: number): ToolPart {
  const { type, text, uri, data, mediaType, name, blob, bytes } = (given ?? {}) as { readonly [field: string]: unknown }
  const more = typeof name === 'string' ? { name } : undefined
  if (type === 'text' && typeof text === 'string') return { type, text }
  if (type === 'link' && typeof uri === 'string') return { type, uri, ...more, ...(typeof mediaType === 'string' && { mediaType }) }
  if ((type === 'image' || type === 'audio' || type === 'file') && typeof mediaType === 'string' && data instanceof Uint8Array)
    return { type, mediaType, data, ...more }
  if ((type === 'image' || type === 'file') && typeof mediaType === 'string' && typeof blob === 'string' && typeof bytes === 'number')
    return { type, mediaType, blob, bytes, ...more } as object as ToolPart
  throw new Error(`parts[${index}] is not a text, a link, or an image, audio or file with "mediaType" and "data" as a Uint8Array`)
}

interface FittedParts {
  /** All parts as text, in their order. */
  readonly text: string
  /** The parts that are not text, as lines. */
  readonly lines: readonly string[]
  /** `undefined` if all are text. */
  readonly recorded: readonly OutputPart[] | undefined
}

export async function storeParts(session: ActiveSession, parts: readonly ToolPart[]): Promise<FittedParts> {
  const dropped = droppedParts(parts)
  const stored = await Promise.all(parts.map((part) => dropped.get(part) ?? storePart(session, part)))
  const lines = stored.flatMap(({ line }, index) => (parts[index]?.type === 'text' ? [] : [line]))
  return {
    text: stored.map(({ line }) => line).join('\n'),
    lines,
    recorded: lines.length === 0 ? undefined : withinRoom(stored, session.state.agent.limits.maxOutputBytes),
  }
}

interface Fitted {
  readonly line: string
  readonly part: OutputPart
}

/** By part: what replaces it. */
function droppedParts(parts: readonly ToolPart[]): ReadonlyMap<ToolPart, Fitted> {
  const dropped = new Map<ToolPart, Fitted>()
  let [count, sum] = [0, 0]
  for (const part of parts) {
    if (!('data' in part)) continue
    const size = part.data.length
    const reason = dropReason(size, { count, sum })
    if (reason === undefined) {
      count++
      sum += size
      continue
    }
    const line = `[${part.type}, ${sizeText(size)}: dropped, ${reason}]`
    dropped.set(part, { line, part: { type: 'text', text: line } })
  }
  return dropped
}

function dropReason(size: number, { count, sum }: { readonly count: number; readonly sum: number }): string | undefined {
  if (size === 0) return 'it is empty'
  if (size > partLimits.bytes) return `it is larger than ${sizeText(partLimits.bytes)}`
  if (sum + size > partLimits.callBytes) return `the parts of this call are larger than ${sizeText(partLimits.callBytes)}`
  return count === partLimits.count ? `a call may return ${partLimits.count} such parts` : undefined
}

function storePart(session: ActiveSession, part: ToolPart): Fitted | Promise<Fitted> {
  const { redactor } = session.ports
  if ('data' in part) return storeBytes(session, part)
  if ('blob' in part) return storedBefore(part as object as StoredPart)
  if (part.type === 'text') {
    const text = redactor.text(part.text)
    return { line: text, part: { type: 'text', text } }
  }
  const name = part.name === undefined ? undefined : { name: redactor.text(part.name) }
  const link = { ...part, ...name, uri: redactor.text(part.uri) }
  return { line: linkText(link), part: link }
}

/** A part of a result of the client. */
const storedBefore = (part: StoredPart): Fitted => ({ line: storedPartText(part), part })

async function storeBytes(session: ActiveSession, { type, data, ...given }: Bytes): Promise<Fitted> {
  const { ports, state } = session
  const mediaType = detectMediaType(data, given.mediaType)
  const name = given.name === undefined ? undefined : { name: ports.redactor.text(given.name) }
  const text = isTextType(mediaType) || mediaType === 'image/svg+xml' ? decoded(data) : undefined
  const redacted = text === undefined ? undefined : ports.redactor.text(text)
  if (redacted !== undefined && type === 'file') {
    const blob = await storeBlob(() => ports.blobs.put(state.treeId, redacted))
    const part: StoredPart = { type: 'file', mediaType, blob, bytes: utf8Length(redacted), ...name }
    return { line: storedPartText(part, ': read it with read_output'), part }
  }
  const bytes = redacted === undefined ? data : new TextEncoder().encode(redacted)
  const blob: BlobId = await storeBlob(() => ports.blobs.putBytes(state.treeId, bytes, mediaType))
  const part: StoredPart = { type: kindOf(type, mediaType), mediaType, blob, bytes: bytes.length, ...name }
  return { line: storedPartText(part), part }
}

/** The bytes decide: an image without the bytes of one is a file. */
function kindOf(type: StoredPart['type'], mediaType: string): StoredPart['type'] {
  if (mediaType.startsWith('image/')) return 'image'
  return type === 'image' ? 'file' : type
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Texts and links beyond the room are in the content only, which is stored as a whole. */
function withinRoom(stored: readonly Fitted[], maxChars: number): readonly OutputPart[] {
  let room = maxChars
  return stored.flatMap(({ line, part }): readonly OutputPart[] => {
    if ('blob' in part) return [part]
    room -= line.length
    return room < 0 ? [] : [part]
  })
}
