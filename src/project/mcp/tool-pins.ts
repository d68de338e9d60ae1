// Which descriptions of tools a person has accepted: a file beside the list of trusted files.
//
// 1. The tools that a server has at its first use are accepted. It had to be trusted to be started.
// 2. A server is its definition: after a change of it, the next use is a first one.
// 3. If the file is damaged, nothing is accepted.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type McpServerDefinition, TroupeError } from '../../contracts/index.ts'
import { serverIdentity } from '../../policy/mcp-servers.ts'
import type { PinnedTool, PinVerdict, ToolPins } from '../../tools/mcp/index.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'
import { nodeConfigFileSystem } from '../config/files/config-file-system.ts'

type Pinned = { readonly [tool: string]: string }
type PinnedServers = { readonly [server: string]: Pinned }

const version = 1
const maxTries = 200

/** The stored pins of all servers. */
export class PinFile implements ToolPins {
  readonly path: string

  constructor(dataFolder: string) {
    this.path = join(dataFolder, 'mcp-tools.json')
  }

  async check(server: string, tools: readonly PinnedTool[], definition: McpServerDefinition): Promise<PinVerdict> {
    const key = keyOf(server, definition)
    const { servers } = await this.#read()
    if (!servers)
      return { withheld: tools.map(({ name }) => name), remedy: `The file ${this.path} is damaged. Remove it to accept the tools again.` }
    const known = servers[key]
    if (!known) {
      await this.accept(server, tools, definition)
      return { withheld: [] }
    }
    const withheld = tools.filter(({ name, hash }) => known[name] !== hash).map(({ name }) => name)
    return { withheld, remedy: `Review them: troupe mcp show ${server}` }
  }

  async accept(server: string, tools: readonly PinnedTool[], definition: McpServerDefinition): Promise<void> {
    for (let tries = 0; tries < maxTries; tries++) {
      const { text, servers = {} } = await this.#read()
      const accepted = { ...servers, [keyOf(server, definition)]: Object.fromEntries(tools.map(({ name, hash }) => [name, hash])) }
      const written = `${JSON.stringify({ version, servers: accepted }, null, 2)}\n`
      if (written === text || (await nodeConfigFileSystem.replace(this.path, text, written))) return
    }
    throw new TroupeError('config_invalid', `${this.path} cannot be written: other processes keep changing it.`, { remedy: 'Try again.' })
  }

  async #read(): Promise<{ readonly text: string | undefined; readonly servers?: PinnedServers }> {
    const content = await nodeConfigFileSystem.read(this.path)
    if (content === undefined) return { text: undefined, servers: {} }
    const text = typeof content === 'string' ? content : new TextDecoder().decode(content)
    try {
      const parsed: unknown = JSON.parse(text)
      if (isPlainObject(parsed) && parsed.version === version && isPlainObject(parsed.servers))
        return { text, servers: parsed.servers as unknown as PinnedServers }
    } catch {
      // Damaged, as below.
    }
    return { text }
  }
}

/** The filter is part of it: with another one, other tools are seen. */
const keyOf = (server: string, definition: McpServerDefinition): string =>
  `${server} ${createHash('sha256')
    .update(JSON.stringify([serverIdentity(definition), definition.tools ?? {}]))
    .digest('hex')}`
