import { agentPrefix, ownToolsDeniedBy, ownToolsFor } from '../../policy/foreign-tools.ts'
import { claudeUses } from './command-rules.ts'
import type { Dialect } from './foreign-agent.ts'

type Translated =
  | { readonly kind: 'tools'; readonly names: readonly string[] }
  /** Only some uses of the tools. `uses` are patterns of our shell; absent if they are not supported. */
  | { readonly kind: 'partly'; readonly names: readonly string[]; readonly what: string; readonly uses?: readonly string[] }
  | { readonly kind: 'unknown' }

/** Tool sets of VS Code, which are not servers. */
const toolSets = /^(?:execute|read|edit|search|agent|web|todo|vscode)\//i

/** Translates an entry of a list of tools. A denial may cover more tools than a grant. */
export function translateTool(dialect: Dialect, written: string, use: 'granted' | 'denied' = 'granted'): Translated {
  if (written === '*') return { kind: 'tools', names: ['*'] }
  const [, name = written, uses] = /^([\w-]+)\((.*)\)$/s.exec(written) ?? []
  const own = use === 'granted' ? ownToolsFor(dialect, name) : ownToolsDeniedBy(dialect, name)
  if (uses !== undefined) {
    const part: Translated = own ? partOf(own, uses.trim()) : { kind: 'unknown' }
    // Denying some commands denies the whole shell.
    const commands = dialect === 'claude' && use === 'granted' && name.toLowerCase() === 'bash' ? claudeUses(uses) : undefined
    return part.kind === 'partly' && commands ? { ...part, uses: commands } : part
  }
  if (own) return { kind: 'tools', names: own }
  const remote = serverTool(dialect, written)
  return remote === undefined ? { kind: 'unknown' } : { kind: 'tools', names: [remote] }
}

/** `Agent(a, b)` names tools of ours; `Bash(git *)` a use of one. */
function partOf(own: readonly string[], uses: string): Translated {
  if (uses === '' || uses === '*') return { kind: 'tools', names: own }
  if (!own.includes(`${agentPrefix}*`)) return { kind: 'partly', names: own, what: uses }
  const agents = uses.split(',').map((agent) => agent.trim())
  return { kind: 'tools', names: agents.filter((agent) => agent !== '').map((agent) => `${agentPrefix}${agent}`) }
}

/** The tool of an MCP server as `server/tool`, if the dialect's notation is unambiguous. */
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
      // Gemini's server names have no `_` for this reason.
      const [, server, tool] = /^mcp_([a-zA-Z0-9.-]+)_([\w.*-]+)$/.exec(written) ?? /^([\w.-]+?)__([\w.*-]+)$/.exec(written) ?? []
      return server && tool && `${server}/${tool}`
    }
    case 'opencode': {
      // `a_b` may be a tool itself.
      const [, server] = /^([\w-]+)_\*$/.exec(written) ?? []
      return server && `${server}/*`
    }
    case 'codex':
      return undefined
    default:
      return dialect satisfies never
  }
}
