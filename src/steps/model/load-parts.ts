import type { BlobId, Blobs, CallResult, InputPart, Message, ModelAbility, ModelRequest, OutputPart } from '../../contracts/index.ts'
import { blobOfInput, hasStoredParts, isReadableBy } from '../../core/index.ts'
import { toBase64 } from '../../util/encode-bytes.ts'
import { inputPartText } from '../output/part-text.ts'
import type { LoadedParts } from '../session/active-session.ts'

// Puts the bytes of stored images and files into a request.
//
// 1. A request has at most `maxBytes` of them. Beyond that, older ones are lines of text.
// 2. Older ones leave in blocks, so that most requests begin like the one before: the prompt cache of the provider applies.
// 3. Bytes of the last request are kept in memory, those of others are not.

const megabyte = 1024 ** 2
const maxBytes = 20 * megabyte
/** Two blocks are kept. A part can be as large as two more, so `maxBytes` holds. */
const blockBytes = 5 * megabyte
/** Providers limit the number of images, too: a small one weighs as much as this. */
const minWeight = megabyte / 4

export interface PartSource {
  /** The abilities of the model. */
  readonly abilities: readonly ModelAbility[]
  /** Those of the request before. */
  readonly kept?: LoadedParts | undefined
  read(blob: BlobId): ReturnType<Blobs['getBytes']>
}

export async function withLoadedParts(
  request: ModelRequest,
  source: PartSource,
): Promise<{ readonly request: ModelRequest; readonly loaded: LoadedParts }> {
  const { abilities } = source
  const loaded = await load(source, newestBlobs(weights(request.messages, abilities)))
  const messages = request.messages.map((message) => (hasStoredParts(message) ? withBytes(message, abilities, loaded) : message))
  return { request: { ...request, messages }, loaded }
}

/** Stored parts that the model reads, from the oldest to the newest. */
function weights(messages: readonly Message[], abilities: readonly ModelAbility[]): ReadonlyMap<BlobId, number> {
  const found = new Map<BlobId, number>()
  const add = (blob: BlobId | undefined, bytes = 0): void => {
    if (blob === undefined) return
    // The newest mention decides about its age.
    found.delete(blob)
    found.set(blob, Math.max(bytes, minWeight))
  }
  for (const message of messages) {
    if (message.role === 'user') for (const part of message.parts) add(blobOfInput(part), part.type === 'text' ? 0 : part.bytes)
    if (message.role === 'tool')
      for (const { parts } of message.results) for (const part of parts ?? []) if (isReadableBy(part, abilities)) add(part.blob, part.bytes)
  }
  return found
}

function newestBlobs(all: ReadonlyMap<BlobId, number>): readonly BlobId[] {
  const total = [...all.values()].reduce((sum, weight) => sum + weight, 0)
  if (total <= maxBytes) return [...all.keys()]
  const lastBlock = Math.ceil(total / blockBytes)
  let end = 0
  return [...all].flatMap(([blob, weight]) => {
    end += weight
    return Math.ceil(end / blockBytes) >= lastBlock - 1 ? [blob] : []
  })
}

async function load({ kept, read }: PartSource, blobs: readonly BlobId[]): Promise<LoadedParts> {
  const entries = await Promise.all(blobs.map(async (blob) => [blob, kept?.get(blob) ?? (await readBase64(() => read(blob)))] as const))
  return new Map(entries.flatMap(([blob, data]) => (data === undefined ? [] : [[blob, data] as const])))
}

/** A part that cannot be read stays a line of text: the rest of the session is more important. */
async function readBase64(read: () => ReturnType<Blobs['getBytes']>): Promise<string | undefined> {
  try {
    const found = await read()
    return found && toBase64(found.bytes)
  } catch {
    return undefined
  }
}

function withBytes(message: Message, abilities: readonly ModelAbility[], loaded: LoadedParts): Message {
  if (message.role === 'user') return { ...message, parts: message.parts.map((part) => inputWithBytes(part, loaded)) }
  if (message.role !== 'tool') return message
  const readPart = (part: OutputPart): OutputPart => {
    if (!isReadableBy(part, abilities)) return part
    const data = loaded.get(part.blob)
    return data === undefined ? part : { ...part, data }
  }
  const results = message.results.map((result): CallResult => (result.parts ? { ...result, parts: result.parts.map(readPart) } : result))
  return { ...message, results }
}

function inputWithBytes(part: InputPart, loaded: LoadedParts): InputPart {
  const blob = blobOfInput(part)
  if (blob === undefined || part.type === 'text') return part
  const data = loaded.get(blob)
  if (data === undefined) return { type: 'text', text: inputPartText(part) }
  const { bytes: _, ...given } = part
  return { ...given, data }
}
