import type { DatabaseSync } from 'node:sqlite'
import type {
  ChannelProvider,
  ClosedRequest,
  Extension,
  ExtensionContext,
  HealthReport,
  IncomingFile,
  JsonObject,
  MessagePiece,
  OutgoingMessage,
  PersonLimits,
  SetupField,
  SetupProvider,
  TurnProgress,
} from 'troupe/extension'
import { Connection } from './connection.ts'
import { Access } from './incoming/access.ts'
import { noteKey } from './incoming/incoming-events.ts'
import { platformOfFile, readIncomingFile } from './incoming/message-files.ts'
import { loadChat, loadPlatform } from './load-platforms.ts'
import { PlatformProblem } from './platform.ts'
import { readSettings } from './settings.ts'
import { checkSetup, nextSteps, setupFields, wholeConfig } from './setup.ts'
import { ChatState } from './state/chat-state.ts'
import { openDatabase } from './state/open-database.ts'
import { Posts } from './state/posts.ts'
import { Requests } from './state/requests.ts'

/** Slack and other chat platforms, by Chat SDK. A thread is a conversation. */
export class ChatPlatforms implements Extension, ChannelProvider, SetupProvider {
  readonly #connections = new Map<string, Connection>()
  /** Platforms that cannot be opened. The others work. */
  readonly #problems: string[] = []
  #database: DatabaseSync | undefined
  #access: Access | undefined
  #setup: JsonObject = {}

  async initialize(context: ExtensionContext): Promise<void> {
    const settings = readSettings(wholeConfig(context.config))
    const names = [...settings.platforms.keys()]
    if (names.length === 0) {
      this.#problems.push('No platform is configured. Run: troupe extensions setup chat_platforms')
      return
    }
    if (settings.rules.length === 0) context.logger.warn('No rule lets anybody write. Add `rules` to `extensions.chat_platforms`.')
    const { Chat } = await loadChat(names)
    this.#database = openDatabase(context.dataDir, context.now())
    const state = new ChatState(this.#database, () => context.now())
    this.#access = new Access(settings, state)
    const shared = { context, Chat, state, access: this.#access, posts: new Posts(this.#database), requests: new Requests(this.#database) }
    for (const [name, platformSettings] of settings.platforms) {
      const module = await loadPlatform(name)
      const webhookUrl = (): string | undefined => context.http && `${context.http.url}/${name}`
      const secret = (key: string): string | undefined => secretOf(context, key)
      const lastNote = async (thread: string): Promise<JsonObject | undefined> =>
        (await state.get<JsonObject>(noteKey(thread))) ?? undefined
      try {
        const platform = await module.open({
          settings: platformSettings,
          secret,
          logger: context.logger,
          lastNote,
          webhookUrl,
        })
        this.#connections.set(name, new Connection({ ...shared, platform }))
      } catch (error) {
        if (!(error instanceof PlatformProblem)) throw error
        this.#problems.push(error.message)
        context.logger.error(error.message)
      }
    }
  }

  async start(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection.start()))
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection.stop()))
  }

  destroy(): void {
    this.#database?.close()
  }

  healthCheck(): HealthReport {
    const reports = [...this.#connections.values()].map((connection) => connection.health())
    const problems = [...this.#problems, ...reports.filter(({ healthy }) => !healthy).map(({ message = '' }) => message)]
    return problems.length === 0 ? { healthy: true } : { healthy: false, message: problems.join(' ') }
  }

  async sendToUser(userId: string, message: OutgoingMessage): Promise<void> {
    await this.#connected(userId).deliver((output) => output.send(userId, message))
  }

  streamToUser(userId: string, piece: MessagePiece): void {
    this.#connected(userId).output.stream(userId, piece)
  }

  async showProgress(userId: string, progress: TurnProgress): Promise<void> {
    // The last state is tried for some seconds, such as while it connects.
    await this.#connectionOf(userId).output.showProgress(userId, progress)
  }

  async closeRequest(userId: string, closed: ClosedRequest): Promise<void> {
    await this.#connected(userId).deliver((output) => output.closeRequest(userId, closed))
  }

  readFile(file: IncomingFile, signal: AbortSignal): Promise<Uint8Array> {
    return readIncomingFile(this.#connected(platformOfFile(file)).platform, file, signal)
  }

  async limitsOf(person: string): Promise<PersonLimits | undefined> {
    return this.#access?.limitsOf(person)
  }

  getSetupSchema(): readonly SetupField[] {
    return setupFields()
  }

  applyConfig(config: JsonObject): void {
    checkSetup(config)
    this.#setup = config
  }

  onSetupComplete(): string {
    return nextSteps(this.#setup)
  }

  /** `of`: a platform, or a thread, which begins with one. */
  #connected(of: string): Connection {
    const connection = this.#connectionOf(of)
    connection.requireConnected()
    return connection
  }

  #connectionOf(of: string): Connection {
    const name = of.split(':')[0] ?? ''
    const connection = this.#connections.get(name)
    if (!connection) throw new Error(this.#problems.join(' ') || `The platform ${name} is not configured.`)
    return connection
  }
}

function secretOf(context: ExtensionContext, name: string): string | undefined {
  try {
    return context.secret(name) || undefined
  } catch {
    // Not set.
    return undefined
  }
}
