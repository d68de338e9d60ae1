import {
  type InteractionEvent,
  type OutgoingFile,
  type OutgoingMessage,
  type SessionService,
  type StoredPart,
  TroupeError,
} from '../../contracts/index.ts'

/** Maximum number of files of one message: the newest ones. */
const mostFiles = 20

/** Files that the agent that speaks has got from its tools since the message before. They go with the next one. */
export class OutgoingFiles {
  readonly #sessions: Pick<SessionService, 'output'>
  readonly #sessionId: string
  #parts: readonly StoredPart[] = []

  constructor(sessions: Pick<SessionService, 'output'>, sessionId: string) {
    this.#sessions = sessions
    this.#sessionId = sessionId
  }

  get areWaiting(): boolean {
    return this.#parts.length > 0
  }

  add({ item }: InteractionEvent<'interaction.item.completed'>): void {
    if (item.kind !== 'call' || !item.parts) return
    const parts = item.parts.filter((part) => 'blob' in part)
    const others = this.#parts.filter(({ blob }) => !parts.some((part) => part.blob === blob))
    this.#parts = [...others, ...parts].slice(-mostFiles)
  }

  /** With the first answer, or the first message. */
  addTo(messages: readonly OutgoingMessage[]): readonly OutgoingMessage[] {
    const message = messages.find(({ kind }) => kind === 'answer') ?? messages[0]
    return message && this.areWaiting ? messages.map((each) => (each === message ? { ...each, ...this.take() } : each)) : messages
  }

  take(): Pick<OutgoingMessage, 'files'> {
    const files = this.#parts.map((part) => this.#fileOf(part))
    this.#parts = []
    return files.length > 0 ? { files } : {}
  }

  #fileOf({ type, mediaType, bytes, blob, name = nameOf(type, mediaType) }: StoredPart): OutgoingFile {
    return { name, mediaType, bytes, read: () => this.#read(blob, name) }
  }

  async #read(blob: string, name: string): Promise<Uint8Array> {
    const stored = await this.#sessions.output(this.#sessionId, blob)
    if (stored) return 'text' in stored ? new TextEncoder().encode(stored.text) : stored.bytes
    throw new TroupeError('session_unknown', `The file ${name} cannot be read: its session was deleted.`)
  }
}

const endings: { readonly [subtype: string]: string } = { 'svg+xml': 'svg', plain: 'txt', mpeg: 'mp3', 'octet-stream': 'bin' }

/** `image.png`, for a tool that gives no name. */
function nameOf(type: StoredPart['type'], mediaType: string): string {
  const [, subtype = ''] = mediaType.split('/')
  return `${type}.${endings[subtype] ?? subtype}`
}
