import { Document, type Node } from 'yaml'
import type { Json, JsonObject } from '../../contracts/index.ts'
import { foreignServersShape } from '../../policy/mcp-server-shape.ts'
import { matchesSource } from '../../policy/tool-name-patterns.ts'
import { isInside } from '../../util/is-inside.ts'
import { shellWord } from '../../util/shell-word.ts'
import { type ConfiguredServer, configuredServer, serversHash, serversOf } from '../config/configured-servers.ts'
import { readShape } from '../config/shape.ts'
import { type FileOrigin, sourcedToJson } from '../config/sourced.ts'
import { type FileState, trustOf } from '../config/trust/trust-records.ts'
import { withheldPart } from '../config/trust/withheld.ts'
import type { ForeignServer } from '../dialects/foreign-agent.ts'
import { type AgentDiagnostic, warningOf } from './agent-diagnostic.ts'
import { realPath } from './agent-paths.ts'
import type { LoadedFile } from './loaded-file.ts'
import { listedServers, type MissingTool, missingServer, type ServerFault } from './missing-tools.ts'
import type { RegistryOptions } from './registry-options.ts'

// The MCP servers of agent files. Trust is bound to their definitions, so that a changed prompt does not need it again: its
// record has the path of the file with `#mcpServers`.

/** The servers of an agent file that wait for trust. */
export interface UntrustedServers extends FileState {
  readonly contents: readonly string[]
}

interface TeamServers {
  of(file: LoadedFile): readonly ConfiguredServer[]
  readonly untrusted: readonly UntrustedServers[]
  /** Servers that wait for trust or can never start, for each agent that lists their tools. */
  readonly missing: readonly MissingTool[]
  readonly diagnostics: readonly AgentDiagnostic[]
}

const suffix = '#mcpServers'

/** The agent file of a record about its servers; `undefined` for other records. */
export const fileOfServers = (path: string): string | undefined => (path.endsWith(suffix) ? path.slice(0, -suffix.length) : undefined)

/** Finds servers that can never start. */
export type FindServerFaults = (servers: readonly ConfiguredServer[]) => Promise<ReadonlyMap<ConfiguredServer, ServerFault | undefined>>

export async function teamServers(files: readonly LoadedFile[], options: RegistryOptions): Promise<TeamServers> {
  const read = new Map(files.map((file) => [file, serversIn(file, options)]))
  const configured = serversOf(options.config)
  const listed = [...read].flatMap(([file, { servers }]) => listedServers(file, [...servers, ...configured]))
  const started = [...new Set(listed.map(({ server }) => server))].filter(({ isTrusted }) => isTrusted)
  const faults = started.length > 0 ? await options.findServerFaults?.(started) : undefined
  const faultOf = (server: ConfiguredServer): ServerFault | undefined =>
    server.isTrusted ? faults?.get(server) : untrustedServer(server.origin.file)
  const waiting = [...read].filter(([, { servers }]) => servers.some(({ isTrusted }) => !isTrusted))
  return {
    of: (file) => read.get(file)?.servers ?? [],
    untrusted: waiting.map(([file, { state }]) => ({
      ...state,
      contents: withheldPart('mcpServers', (file.values.get('mcpServers')?.value ?? {}) as Json, ['mcpServers']).contents,
    })),
    missing: listed.flatMap(({ server, ...entry }) => missingServer(server.name, entry, faultOf(server))),
    diagnostics: [...waiting.map(([file, { isChanged }]) => untrustedDiagnostic(file, isChanged)), ...[...read].flatMap(unusedServers)],
  }
}

interface FileServers {
  readonly servers: readonly ConfiguredServer[]
  readonly state: FileState
  readonly isChanged: boolean
}

function serversIn({ path, values, dialect }: LoadedFile, { config, trusted }: RegistryOptions): FileServers {
  const option = values.get('mcpServers')
  const origin: FileOrigin = { ...originOf(option?.place ?? path), file: path }
  const entries = Object.entries((option?.value ?? {}) as { readonly [name: string]: JsonObject })
  const servers = entries.map(([name, settings]) => configuredServer(name, settings, { origin, isTrusted: false }))
  const state = { path: `${path}${suffix}`, sha256: serversHash(servers) }
  // Foreign files have servers only if they are trusted. The user wrote the command line.
  const isOwn = dialect !== 'troupe' || option?.precedence !== 'file' || config.ownFolders.some((each) => isInside(realPath(each), path))
  const status = isOwn ? 'trusted' : trustOf(state, trusted)
  return { servers: servers.map((each) => ({ ...each, isTrusted: status === 'trusted' })), state, isChanged: status === 'changed' }
}

/** The origin that a place such as `a.ai:3:9` names. Variables are searched as for a configuration beside the file. */
function originOf(place: string): FileOrigin {
  const [, file = place, line = '1', column = '1'] = /^(.*):(\d+):(\d+)$/s.exec(place) ?? []
  return { kind: 'file', layer: 'agent', file, line: Number(line), column: Number(column) }
}

function untrustedDiagnostic({ values, path, place }: LoadedFile, isChanged: boolean): AgentDiagnostic {
  const option = values.get('mcpServers')
  const names = Object.keys(option?.value ?? {}).join(', ')
  const why = isChanged ? 'they have changed since they were trusted' : 'nobody has trusted them'
  const remedy = `Review the file, then: troupe trust ${shellWord(path)}`
  return warningOf(
    { place: option?.place ?? place, message: `its MCP servers are not started, because ${why}: ${names}`, remedy },
    'agent_untrusted',
  )
}

const untrustedServer = (file: string): ServerFault => ({
  kind: 'untrusted',
  message: 'nobody has trusted it in its current form',
  remedy: `Review it, then: troupe trust ${shellWord(file)}`,
})

/** An agent has the tools that it lists, also those of its own servers. */
function unusedServers([{ agent, values, place, dialect }, { servers }]: readonly [LoadedFile, FileServers]): readonly AgentDiagnostic[] {
  if (dialect !== 'troupe') return []
  const unused = servers.filter(({ name }) => !agent.tools.some((pattern) => matchesSource(pattern, name)))
  return unused.map(({ name }) =>
    warningOf(
      {
        place: values.get('mcpServers')?.place ?? place,
        message: `the MCP server \`${name}\` is not used, because \`tools\` lists none of its tools`,
        remedy: `Add \`${name}/*\` or some of its tools to \`tools\`.`,
      },
      'agent_setting_idle',
    ),
  )
}

/** The servers of a foreign file. Those that cannot be used here are left out and reported. */
export function foreignServers(
  written: readonly ForeignServer[],
  place: string,
): { readonly servers: JsonObject; readonly diagnostics: readonly AgentDiagnostic[] } {
  const servers: Record<string, Json> = {}
  const diagnostics: AgentDiagnostic[] = []
  for (const { name, config } of written) {
    if (!config) continue
    const problems: string[] = []
    const origin = originOf(place)
    const source = { problem: (_: Node, message: string) => void problems.push(message), notice: () => {}, origin: () => origin }
    const tree = readShape(new Document({ [name]: config }).contents as Node, foreignServersShape, { source, path: ['mcpServers'] })
    if (problems.length === 0 && tree) Object.assign(servers, sourcedToJson(tree))
    else diagnostics.push(warningOf({ place, message: `its MCP server \`${name}\` is left out: ${problems.join('; ')}` }, 'foreign_agent'))
  }
  return { servers, diagnostics }
}
