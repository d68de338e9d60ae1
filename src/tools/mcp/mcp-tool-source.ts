// A configured server as a source of tools.
//
// 1. `open` returns immediately. Everything else connects, if that has not happened.
// 2. The list of a session stays as it is until the server reports a change and the new list differs.
// 3. What a server sends is untrusted: an invalid tool is left out and reported, the others stay.
import {
  type Diagnostic,
  type JsonObject,
  type McpServerDefinition,
  type SessionToolSource,
  type SourceSession,
  type Tool,
  type ToolSource,
  TroupeError,
} from '../../contracts/index.ts'
import { serverName, serverNaming } from '../../policy/mcp-servers.ts'
import { messageOf } from '../../util/message-of.ts'
import { cutText, wellFormed } from '../../util/well-formed.ts'
import { schemaValidator } from '../schema/schema-validator.ts'
import { type HeldConnection, poolOf } from './connection-pool.ts'
import type { McpConnection } from './mcp-connection.ts'
import { troupeErrorOf } from './mcp-failure.ts'
import type { McpHost, PinnedTool } from './mcp-host.ts'
import { acceptAgainMs, listAgainMs, maxInstructionsCharacters } from './mcp-limits.ts'
import { mcpTool, type ToolPlace } from './mcp-tools.ts'
import { type McpPrompt, type McpPromptMessage, type McpResource, readPrompt, readPrompts, readResources } from './prompts-and-resources.ts'
import { resolveServer } from './resolve-server.ts'
import { resourceTool, resourceToolName } from './resource-tool.ts'
import { hashOf, isOffered, type LeftOutTool, readServerTools, type ServerTool } from './server-tools.ts'

/** A configured server. */
export interface McpServerSource extends SessionToolSource {
  open(session: SourceSession): McpToolSource
  /** Starts a connection ahead, for the first session with this overlay. A failure is reported to that session. */
  prepare(overlay: SourceSession['overlay']): void
}

/** The connection of one session to a server. What takes time rejects with a TroupeError that has a message and a remedy. */
export interface McpToolSource extends ToolSource {
  onChange(listener: () => void): () => void
  instructions(): string | undefined
  /** The tools of the last list that cannot be offered. */
  leftOut(): readonly LeftOutTool[]
  /** What the server said about itself when the connection was opened. */
  facts(): Promise<McpServerFacts>
  prompts(): Promise<readonly McpPrompt[]>
  prompt(name: string, args: { readonly [name: string]: string }): Promise<readonly McpPromptMessage[]>
  resources(): Promise<readonly McpResource[]>
  close(): Promise<void>
}

/** What a server says about itself. Untrusted. */
export interface McpServerFacts {
  readonly name?: string
  readonly version?: string
  readonly protocol: string
  readonly capabilities: JsonObject
}

/** @throws TroupeError `config_invalid` if the name is not valid. */
export function mcpToolSource(name: string, definition: McpServerDefinition, host: McpHost): McpServerSource {
  if (!serverName.test(name))
    throw new TroupeError('config_invalid', `"${name}" is not a valid name for an MCP server.`, { remedy: `${serverNaming}.` })
  const pool = poolOf(host)
  const used = new Set<string>()
  const resolve = (overlay: SourceSession['overlay']) => {
    const server = resolveServer(name, definition, { overlay, host })
    used.add(server.key)
    return server
  }
  return {
    name,
    ...(definition.required !== undefined && { required: definition.required }),
    open: (session) => {
      const take = (): HeldConnection =>
        pool.take(resolve(session.overlay), session.sessionId, { keepsSpare: definition.connect === 'eager' })
      return new OpenSource({ name, definition, host, session, take })
    },
    prepare: (overlay) => {
      try {
        pool.startAhead(resolve(overlay))
      } catch {
        // The session reports it.
      }
    },
    close: async () => {
      await Promise.all([...used].map((key) => pool.dropSpare(key)))
    },
  }
}

interface SourceParts {
  readonly name: string
  readonly definition: McpServerDefinition
  readonly host: McpHost
  readonly session: SourceSession
  take(): HeldConnection
}

/** What a server listed at one time. */
interface Listed {
  readonly connection: McpConnection
  readonly tools: readonly ServerTool[]
  readonly leftOut: readonly LeftOutTool[]
  readonly instructions: string | undefined
  readonly takesResources: boolean
}

/** What of it is offered. */
interface Offer {
  readonly tools: readonly Tool[]
  /** Whether something waits for a person who accepts it. */
  readonly isPartial: boolean
  readonly instructions: string | undefined
  readonly leftOut: readonly LeftOutTool[]
  readonly hash: string
}

interface Accepted extends Pick<Offer, 'isPartial'> {
  readonly tools: readonly ServerTool[]
  readonly text: string | undefined
}

const instructionsPin = '(instructions)'
/** Problems of one list that are reported one by one. */
const maxReported = 5

class OpenSource implements McpToolSource {
  readonly #parts: SourceParts
  readonly #validator = schemaValidator()
  readonly #listeners = new Set<() => void>()
  readonly #reported = new Set<string>()
  #held: HeldConnection | undefined
  #stopListening = (): void => {}
  #offer: Offer | undefined
  #listed: Listed | undefined
  #listing: Promise<Offer> | undefined
  #cancelRelist: (() => void) | undefined
  #cancelRecheck = (): void => {}
  #isClosed = false

  constructor(parts: SourceParts) {
    this.#parts = parts
    if (parts.definition.connect !== 'eager') return
    try {
      this.#connection.prepare()
    } catch {
      // `list` throws it again.
    }
  }

  async list(): Promise<readonly Tool[]> {
    return this.#rejecting(async () => (this.#offer ?? (await this.#read())).tools)
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  instructions(): string | undefined {
    return this.#offer?.instructions
  }

  leftOut(): readonly LeftOutTool[] {
    return this.#offer?.leftOut ?? []
  }

  facts(): Promise<McpServerFacts> {
    return this.#rejecting(() => this.#connection.use(async (client) => client.facts))
  }

  prompts(): Promise<readonly McpPrompt[]> {
    return this.#rejecting(() => readPrompts(this.#connection))
  }

  prompt(name: string, args: { readonly [name: string]: string }): Promise<readonly McpPromptMessage[]> {
    return this.#rejecting(() => readPrompt(this.#connection, name, args))
  }

  resources(): Promise<readonly McpResource[]> {
    return this.#rejecting(() => readResources(this.#connection))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelRelist?.()
    this.#cancelRecheck()
    this.#stopListening()
    this.#listeners.clear()
    await this.#held?.release()
  }

  get #connection(): McpConnection {
    if (this.#isClosed) throw new TroupeError('tools_unavailable', `The MCP server "${this.#parts.name}" is closed for this session.`)
    if (this.#held) return this.#held.connection
    this.#held = this.#parts.take()
    this.#stopListening = this.#held.connection.onToolsChanged(() => this.#readLater())
    return this.#held.connection
  }

  async #rejecting<Result>(run: () => Promise<Result>): Promise<Result> {
    try {
      return await run()
    } catch (error) {
      throw troupeErrorOf(error, this.#parts.name)
    }
  }

  #read(): Promise<Offer> {
    this.#listing ??= this.#readList()
      .then((listed) => {
        this.#listed = listed
        return this.#makeOffer(listed)
      })
      .finally(() => {
        this.#listing = undefined
      })
    return this.#listing
  }

  /** A change of an earlier offer is reported. */
  async #makeOffer(listed: Listed): Promise<Offer> {
    const offer = await this.#offerOf(listed)
    const before = this.#offer
    // The server was listed again meanwhile.
    if (before !== undefined && listed !== this.#listed) return before
    this.#offer = offer
    this.#cancelRecheck()
    if (this.#isClosed) return offer
    if (offer.isPartial) this.#cancelRecheck = this.#parts.host.clock.after(acceptAgainMs, () => this.#acceptLater())
    if (before !== undefined && before.hash !== offer.hash) for (const listener of this.#listeners) listener()
    return offer
  }

  /** A person may accept what is withheld at any time. */
  #acceptLater(): void {
    if (this.#listed)
      this.#makeOffer(this.#listed).catch((error: unknown) =>
        this.#report('tool_missing', `The accepted tools of the MCP server "${this.#parts.name}" could not be read: ${messageOf(error)}`),
      )
  }

  /** Soon, but not for each of many changes. */
  #readLater(): void {
    if (this.#isClosed || this.#offer === undefined || this.#cancelRelist) return
    this.#cancelRelist = this.#parts.host.clock.after(listAgainMs, () => {
      this.#cancelRelist = undefined
      this.#read().catch((error: unknown) =>
        this.#report('tool_missing', `The tools of the MCP server "${this.#parts.name}" could not be listed again: ${messageOf(error)}`),
      )
    })
  }

  async #readList(): Promise<Listed> {
    const { name, definition } = this.#parts
    const connection = this.#connection
    const { entries, isCut, instructions, hasResources, hasHeaders } = await connection.use(
      async (client) => {
        const { capabilities } = client.facts
        const listed = 'tools' in capabilities ? await client.list('tools/list') : { entries: [], isCut: false }
        const hasHeaders = client.isModern && (definition.type === 'http' || definition.type === 'auto')
        return { ...listed, instructions: client.instructions, hasResources: 'resources' in capabilities, hasHeaders }
      },
      { isRepeatable: true },
    )
    const { tools, leftOut } = readServerTools(entries, { server: name, filter: definition.tools, hasHeaders })
    for (const { name: tool, reason } of leftOut.slice(0, maxReported))
      this.#report('tool_invalid', `A tool of the MCP server "${name}" is left out: ${tool === undefined ? '' : `${tool}: `}${reason}`)
    if (leftOut.length > maxReported)
      this.#report('tool_invalid', `${leftOut.length - maxReported} more tools of the MCP server "${name}" are left out.`)
    if (isCut) this.#report('tool_invalid', `The MCP server "${name}" lists too many tools. Only the first ${entries.length} are read.`)
    return {
      connection,
      tools,
      leftOut,
      instructions: instructions?.trim() ? cutText(wellFormed(instructions.trim()), maxInstructionsCharacters) : undefined,
      takesResources:
        hasResources && isOffered(resourceToolName, definition.tools) && !tools.some((tool) => tool.name === resourceToolName),
    }
  }

  async #offerOf({ connection, leftOut, takesResources, ...listed }: Listed): Promise<Offer> {
    const { name, definition, host } = this.#parts
    const { tools, text, isPartial } = await this.#accepted(listed.tools, listed.instructions)
    const place: ToolPlace = { server: name, definition, host, connection, validator: this.#validator }
    const own = tools.map((tool) => mcpTool(tool, place))
    return {
      tools: takesResources ? [...own, resourceTool(place)] : own,
      isPartial,
      instructions: text === undefined ? undefined : `Instructions of the MCP server ${name}:\n${text}`,
      leftOut,
      hash: hashOf([tools.map(({ hash }) => hash), text, takesResources]),
    }
  }

  /** Without what is new or changed since a person accepted it. */
  async #accepted(tools: readonly ServerTool[], text: string | undefined): Promise<Accepted> {
    const { name, definition, host } = this.#parts
    if (!host.pins) return { tools, text, isPartial: false }
    const pinned: PinnedTool[] = tools.map(({ name: tool, hash, description, inputSchema }) => ({
      name: tool,
      hash,
      description,
      inputSchema,
    }))
    if (text !== undefined) pinned.push({ name: instructionsPin, hash: hashOf(text), description: text })
    const { withheld, remedy } = await host.pins.check(name, pinned, definition)
    if (withheld.length === 0) return { tools, text, isPartial: false }
    const message = `The MCP server "${name}" has added or changed ${withheld.join(', ')}. What is new is withheld until a person accepts it.`
    this.#report('tools_withheld', message, remedy)
    return {
      tools: tools.filter((tool) => !withheld.includes(tool.name)),
      text: withheld.includes(instructionsPin) ? undefined : text,
      isPartial: true,
    }
  }

  /** Once for each message. */
  #report(code: Diagnostic['code'], message: string, remedy?: string): void {
    if (this.#isClosed || this.#reported.has(message)) return
    this.#reported.add(message)
    this.#parts.session.report({ code, severity: 'warning', message, ...(remedy !== undefined && { remedy }) })
  }
}
