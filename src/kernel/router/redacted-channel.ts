import type {
  ChannelProvider,
  ChannelRequest,
  Json,
  MessagePiece,
  OutgoingFile,
  OutgoingMessage,
  TurnProgress,
} from '../../contracts/index.ts'
import type { Redactor } from '../../util/redact.ts'
import type { RedactionStream } from '../../util/redact-stream.ts'

/** Texts that are being written. The oldest one is forgotten: its message comes as a whole. */
const mostStreams = 1_000

interface Stream {
  readonly text: RedactionStream
  state: 'open' | 'ended' | 'broken'
}

/**
 * A channel that gets no secrets. Journals are redacted already; this adds what is in no journal, such as notices of extensions, and
 * secrets that were not known when it was written. The bytes of files are redacted when they are stored and read.
 */
export function redactedChannel(channel: ChannelProvider, redactor: () => Redactor): ChannelProvider {
  const streams = new Map<string, Stream>()
  const keyOf = (userId: string, { id, conversation }: MessagePiece | OutgoingMessage): string => JSON.stringify([userId, conversation, id])

  const openStream = (key: string): Stream => {
    const known = streams.get(key)
    if (known) return known
    const [oldest] = streams.keys()
    if (streams.size >= mostStreams && oldest !== undefined) streams.delete(oldest)
    const stream: Stream = { text: redactor().stream(), state: 'open' }
    streams.set(key, stream)
    return stream
  }

  async function streamToUser(userId: string, piece: MessagePiece): Promise<void> {
    const stream = openStream(keyOf(userId, piece))
    const text = stream.text.push(piece.text)
    if (text !== '') await channel.streamToUser?.(userId, { ...piece, text, speaker: redactor().text(piece.speaker) })
  }

  /** What was held back, because it could have been the start of a secret. A channel that does not take it gets the message as a whole. */
  async function endStream(userId: string, { id, turnId, speaker, conversation }: OutgoingMessage, stream: Stream): Promise<void> {
    const text = stream.text.end()
    stream.state = 'ended'
    const place = { ...(turnId !== undefined && { turnId }), ...(conversation !== undefined && { conversation }) }
    try {
      if (text !== '') await channel.streamToUser?.(userId, { id, speaker: redactor().text(speaker), text, ...place })
    } catch {
      stream.state = 'broken'
    }
  }

  async function sendToUser(userId: string, message: OutgoingMessage): Promise<void> {
    const key = keyOf(userId, message)
    const stream = streams.get(key)
    if (message.streamed && stream?.state === 'open') await endStream(userId, message, stream)
    const { streamed, ...whole } = message
    await channel.sendToUser(userId, redactMessage(stream?.state === 'broken' ? whole : message, redactor()))
    streams.delete(key)
  }

  return {
    sendToUser,
    ...(channel.streamToUser && { streamToUser }),
    ...(channel.showProgress && {
      showProgress: (userId: string, progress: TurnProgress) => channel.showProgress?.(userId, redactProgress(progress, redactor())),
    }),
    ...(channel.closeRequest && {
      closeRequest: (userId, closed) =>
        channel.closeRequest?.(userId, closed.by === undefined ? closed : { ...closed, by: redactor().text(closed.by) }),
    }),
    ...(channel.readFile && { readFile: (file, signal) => channel.readFile?.(file, signal) ?? new Uint8Array() }),
    ...(channel.limitsOf && { limitsOf: (personId: string) => channel.limitsOf?.(personId) }),
  }
}

export const redactRequest = (request: ChannelRequest, { json }: Pick<Redactor, 'json'>): ChannelRequest => ({
  ...(json(request as unknown as Json) as unknown as ChannelRequest),
  id: request.id,
})

function redactMessage({ files, request, ...message }: OutgoingMessage, { text, json }: Redactor): OutgoingMessage {
  const { options } = message
  return {
    ...message,
    text: text(message.text),
    speaker: text(message.speaker),
    ...(options && { options: options.map(text) }),
    ...(request && { request: redactRequest(request, { json }) }),
    ...(files && { files: files.map((file): OutgoingFile => ({ ...file, name: text(file.name) })) }),
  }
}

const redactProgress = (progress: TurnProgress, { text }: Redactor): TurnProgress => ({
  ...progress,
  tasks: progress.tasks.map(({ detail, ...task }) => ({
    ...task,
    title: text(task.title),
    ...(detail !== undefined && { detail: text(detail) }),
  })),
})
