import type { Problem } from '../../contracts/index.ts'
import { matchesSource } from '../../policy/tool-name-patterns.ts'
import type { SourceLocation } from '../../yaml/source-text.ts'
import { toolEntries } from '../agent-file/tool-entries.ts'
import { type AgentDiagnostic, warningOf } from './agent-diagnostic.ts'
import type { LoadedFile } from './loaded-file.ts'

// An agent lists the tools that it needs in `tools`. A tool that cannot exist is a problem: an unknown name, a module that cannot be
// used, a server that nobody has trusted or whose program does not exist. The absence of an optional tool is a warning.
// A server that may answer later is no missing tool.

/** An entry of `tools` that no tool can match. */
export interface MissingTool extends Problem {
  /** The path of the agent file that lists it. */
  readonly agent: string
  readonly isOptional: boolean
  /** `untrusted`: a person can trust it. */
  readonly kind: 'absent' | 'untrusted'
}

/**
 * What happens to agents that list missing tools. `refuse`: it is an error. `report`: they start without these tools. `leave out`: only
 * the other agents start, and the orchestrator without these tools.
 */
export type OnMissingTools = 'refuse' | 'report' | 'leave out'

/** An agent that is left out because tools are missing. */
export interface LeftOutAgent {
  readonly name: string
  /** The orchestrator starts without these tools: nothing replaces its rules and limits. */
  readonly starts: boolean
  readonly problems: readonly Problem[]
}

/** Files of other programs may name tools that do not exist here. */
export const mustHaveItsTools = ({ dialect, values }: Pick<LoadedFile, 'dialect' | 'values'>): boolean =>
  dialect === 'troupe' || values.get('tools')?.precedence === 'override'

export const problemOfTool = ({ place, line, message, remedy }: MissingTool): Problem => ({
  place,
  message,
  ...(remedy !== undefined && { remedy }),
  ...(line !== undefined && { line }),
})

export const missingToolDiagnostic = (missing: MissingTool): AgentDiagnostic =>
  warningOf(missing, missing.kind === 'untrusted' ? 'agent_untrusted' : 'agent_tools_absent')

export type ServerFault = Pick<MissingTool, 'message' | 'remedy' | 'kind'>

interface ListedServer<Server> extends Pick<MissingTool, 'agent' | 'isOptional'> {
  readonly server: Server
  /** Its first entry, before optional ones. */
  readonly at: SourceLocation
}

/**
 * Servers whose tools an agent lists by name. `servers`: the agent's own come first. A pattern that matches other tools, too, such as
 * `*`, needs no server.
 */
export function listedServers<Server extends { readonly name: string }>(
  agent: Pick<LoadedFile, 'path' | 'values' | 'dialect'>,
  servers: readonly Server[],
): readonly ListedServer<Server>[] {
  if (!mustHaveItsTools(agent)) return []
  const entries = toolEntries(agent.values).toSorted((a, b) => Number(a.isOptional) - Number(b.isOptional))
  return [...Map.groupBy(servers, ({ name }) => name)].flatMap(([name, [server]]) => {
    const first = entries.find(({ written }) => matchesSource(written, name, 'only'))
    return first && server ? [{ server, agent: agent.path, at: first.at, isOptional: first.isOptional }] : []
  })
}

export function missingServer(
  name: string,
  { at, agent, isOptional }: Omit<ListedServer<unknown>, 'server'>,
  fault: ServerFault | undefined,
): readonly MissingTool[] {
  if (!fault) return []
  return [{ ...at, ...fault, message: `the tools of the MCP server \`${name}\` are absent: ${fault.message}`, agent, isOptional }]
}
