// Which descriptions of tools a person has accepted, and which wait for that: files beside the list of trusted files.
//
// 1. The tools that a server has at its first use are accepted. It had to be trusted to be started.
// 2. A server is its definition: after a change of it, the next use is a first one.
// 3. If the file of what is accepted is damaged, nothing is accepted.
// 4. What a session has seen and was not accepted is pending, also if the server shows it to that session only.
// 5. What was accepted stays accepted: a server may show different descriptions to different sessions.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { McpServerDefinition } from '../../contracts/index.ts'
import { serverIdentity } from '../../policy/mcp-servers.ts'
import type { PinnedTool, PinVerdict, ToolPins } from '../../tools/mcp/index.ts'
import { ServerRecords } from './server-records.ts'

/** The accepted hashes of each tool, newest first. */
type Pinned = { readonly [tool: string]: string | readonly string[] }

const maxHashes = 10
/** Some servers have the time of day in a description. */
const maxVersions = 3
/** For one server, and for all of them. */
const maxPendingCharacters = 256 * 1024
const maxPendingInAll = 1024 * 1024

/** The stored pins of all servers. */
export class PinFile implements ToolPins {
  readonly #accepted: ServerRecords<Pinned>
  readonly #pending: ServerRecords<readonly PinnedTool[]>

  constructor(dataFolder: string) {
    this.#accepted = new ServerRecords(join(dataFolder, 'mcp-tools.json'))
    this.#pending = new ServerRecords(join(dataFolder, 'mcp-pending.json'))
  }

  async check(server: string, tools: readonly PinnedTool[], definition: McpServerDefinition): Promise<PinVerdict> {
    const key = keyOf(server, definition)
    const servers = await this.#accepted.read()
    if (!servers) {
      const remedy = `The file ${this.#accepted.path} is damaged. Remove it to accept the tools again.`
      return { withheld: tools.map(({ name }) => name), remedy }
    }
    const known = servers[key]
    if (!known) {
      await this.accept(server, tools, definition)
      return { withheld: [] }
    }
    const withheld = tools.filter((tool) => !isAccepted(known, tool))
    // Without it, they stay withheld.
    if (withheld.length > 0) await this.#remember(key, withheld).catch(() => {})
    return { withheld: withheld.map(({ name }) => name), remedy: `Review them: troupe mcp show ${server}` }
  }

  /** What sessions have seen, and nobody has accepted. */
  async pending(server: string, definition: McpServerDefinition): Promise<readonly PinnedTool[]> {
    const key = keyOf(server, definition)
    const [accepted, pending] = await Promise.all([this.#accepted.read(), this.#pending.read()])
    return (pending?.[key] ?? []).filter((tool) => !isAccepted(accepted?.[key], tool))
  }

  async accept(server: string, tools: readonly PinnedTool[], definition: McpServerDefinition): Promise<void> {
    const key = keyOf(server, definition)
    await this.#accepted.change((servers) => {
      const pinned = new Map(Object.entries(servers[key] ?? {}))
      for (const { name, hash } of tools) pinned.set(name, withHash(pinned.get(name), hash))
      return { ...servers, [key]: Object.fromEntries(pinned) }
    })
  }

  async #remember(key: string, seen: readonly PinnedTool[]): Promise<void> {
    const known = (await this.#pending.read())?.[key] ?? []
    if (!seen.some(isNot(known))) return
    await this.#pending.change(({ [key]: waiting = [], ...others }) => withPending(others, key, [...seen, ...waiting.filter(isNot(seen))]))
  }
}

const hashesOf = (pinned: Pinned[string] = []): readonly string[] => [pinned].flat()

const isAccepted = (known: Pinned | undefined, { name, hash }: PinnedTool): boolean => hashesOf(known?.[name]).includes(hash)

/** One hash stays a text, as in files of earlier versions. */
function withHash(pinned: Pinned[string] | undefined, hash: string): Pinned[string] {
  const hashes = [...new Set([hash, ...hashesOf(pinned)])].slice(0, maxHashes)
  return hashes.length === 1 ? hash : hashes
}

const isNot =
  (tools: readonly PinnedTool[]) =>
  ({ name, hash }: PinnedTool): boolean =>
    !tools.some((tool) => tool.name === name && tool.hash === hash)

type Pending = { readonly [server: string]: readonly PinnedTool[] }

/** With the newest versions of tools that there is room for. */
function withPending(others: Pending, key: string, tools: readonly PinnedTool[]): Pending {
  const newest = tools.filter(({ name }, at) => tools.slice(0, at).filter((each) => each.name === name).length < maxVersions)
  const kept = within(newest, maxPendingCharacters)
  const entries: readonly (readonly [string, readonly PinnedTool[]])[] = [
    ...(kept.length > 0 ? [[key, kept] as const] : []),
    ...Object.entries(others),
  ]
  return Object.fromEntries(within(entries, maxPendingInAll))
}

function within<Item>(items: readonly Item[], characters: number): readonly Item[] {
  let left = characters
  return items.filter((item) => {
    left -= JSON.stringify(item).length
    return left >= 0
  })
}

/** The filter is part of it: with another one, other tools are seen. */
const keyOf = (server: string, definition: McpServerDefinition): string =>
  `${server} ${createHash('sha256')
    .update(JSON.stringify([serverIdentity(definition), definition.tools ?? {}]))
    .digest('hex')}`
