import type { SessionToolSource, SourceSession, Tool, ToolSource } from '../../contracts/index.ts'

/** A source whose code is loaded when the first session lists its tools: programs without it start sooner. */
export class LaterSource implements SessionToolSource {
  readonly name: string
  readonly required: boolean
  readonly #load: () => Promise<SessionToolSource>
  #loading: Promise<SessionToolSource> | undefined

  constructor(
    { name, required = false }: { readonly name: string; readonly required?: boolean | undefined },
    load: () => Promise<SessionToolSource>,
  ) {
    this.name = name
    this.required = required
    this.#load = load
  }

  load(): Promise<SessionToolSource> {
    this.#loading ??= this.#load()
    return this.#loading
  }

  open(session: SourceSession): ToolSource {
    return new LaterTools(this, session)
  }

  async close(): Promise<void> {
    const source = await this.#loading
    await source?.close?.()
  }
}

class LaterTools implements ToolSource {
  readonly #source: LaterSource
  readonly #session: SourceSession
  readonly #listeners = new Set<() => void>()
  #opening: Promise<ToolSource> | undefined
  #opened: ToolSource | undefined
  #isClosed = false

  constructor(source: LaterSource, session: SourceSession) {
    this.#source = source
    this.#session = session
  }

  async list(): Promise<readonly Tool[]> {
    this.#opening ??= this.#open()
    const opened = await this.#opening
    return opened.list()
  }

  async #open(): Promise<ToolSource> {
    const source = await this.#source.load()
    const opened = source.open(this.#session)
    this.#opened = opened
    opened.onChange?.(() => {
      for (const listener of this.#listeners) listener()
    })
    // Closed while the code was loaded.
    if (this.#isClosed) await opened.close?.()
    return opened
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  instructions(): string | undefined {
    return this.#opened?.instructions?.()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#opened?.close?.()
  }
}
