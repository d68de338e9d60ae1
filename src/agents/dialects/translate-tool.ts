import { agentPrefix, ownToolsDeniedBy, ownToolsFor } from '../../policy/foreign-tools.ts'
import { claudeUses } from './command-rules.ts'
import type { Dialect } from './foreign-agent.ts'

export type Translated =
  | { readonly kind: 'tools'; readonly names: readonly string[] }
  /** Only some uses of the tools are meant. `uses` are commands of our shell; without them, nobody can tell them apart here. */
  | { readonly kind: 'partly'; readonly names: readonly string[]; readonly what: string; readonly uses?: readonly string[] }
  | { readonly kind: 'unknown' }

/** Prefixes that VS Code gives to its own sets of tools: no servers. */
const toolSets = /^(?:execute|read|edit|search|agent|web|todo|vscode)\//i

/** One entry of a list of tools, in our names. A denial may mean more of them than a grant. */
export function translateTool(dialect: Dialect, written: string, use: 'granted' | 'denied' = 'granted'): Translated {
  if (written === '*') return { kind: 'tools', names: ['*'] }
  const [, name = written, uses] = /^([\w-]+)\((.*)\)$/s.exec(written) ?? []
  const own = use === 'granted' ? ownToolsFor(dialect, name) : ownToolsDeniedBy(dialect, name)
  if (uses !== undefined) {
    const part: Translated = own ? partOf(own, uses.trim()) : { kind: 'unknown' }
    // A denial of some commands is one of the whole shell, as it is there.
    const commands = dialect === 'claude' && use === 'granted' && name.toLowerCase() === 'bash' ? claudeUses(uses) : undefined
    return part.kind === 'partly' && commands ? { ...part, uses: commands } : part
  }
  if (own) return { kind: 'tools', names: own }
  const remote = serverTool(dialect, written)
  return remote === undefined ? { kind: 'unknown' } : { kind: 'tools', names: [remote] }
}

/** `Agent(a, b)` names tools of ours; `Bash(git *)` names uses of one. */
function partOf(own: readonly string[], uses: string): Translated {
  if (uses === '' || uses === '*') return { kind: 'tools', names: own }
  if (!own.includes(`${agentPrefix}*`)) return { kind: 'partly', names: own, what: uses }
  const agents = uses.split(',').map((agent) => agent.trim())
  return { kind: 'tools', names: agents.filter((agent) => agent !== '').map((agent) => `${agentPrefix}${agent}`) }
}

/** The tool of an MCP server as `server/tool`, where the dialect's way of writing it can be told from other names. */
function serverTool(dialect: Dialect, written: string): string | undefined {
  switch (dialect) {
    case 'claude': {
      if (written === 'mcp__*') return '*/*'
      const [, server, tool = '*'] = /^mcp__([\w.-]+?)(?:__([\w.*-]+))?$/.exec(written) ?? []
      return server && `${server}/${tool}`
    }
    case 'copilot':
      return /^[\w.-]+\/[\w.*-]+$/.test(written) && !toolSets.test(written) ? written : undefined
    case 'gemini': {
      if (written === 'mcp_*') return '*/*'
      // Servers there have no `_` in their names, for this very reason.
      const [, server, tool] = /^mcp_([a-zA-Z0-9.-]+)_([\w.*-]+)$/.exec(written) ?? /^([\w.-]+?)__([\w.*-]+)$/.exec(written) ?? []
      return server && tool && `${server}/${tool}`
    }
    case 'opencode': {
      // Only a pattern is sure to mean a server: `a_b` may be a tool of its own.
      const [, server] = /^([\w-]+)_\*$/.exec(written) ?? []
      return server && `${server}/*`
    }
    case 'codex':
      return undefined
    default:
      return dialect satisfies never
  }
}
