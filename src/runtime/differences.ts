import type { Diagnostic } from '../contracts/index.ts'
import type { SessionState } from '../core/index.ts'
import type { ToolRegistry } from '../steps/index.ts'
import type { RuntimeParts } from './runtime-parts.ts'

/** What has changed around a session since it was last driven. The journal's definition stays in force. */
export function differences(parts: RuntimeParts, state: SessionState, registry: ToolRegistry): readonly Diagnostic[] {
  const found: Diagnostic[] = state.tools
    .filter((name) => !registry.find(name))
    .map((name) => ({
      code: 'tool_missing',
      severity: 'warning',
      message: `The tool "${name}" of this session is no longer there.`,
      remedy: 'Calls of it fail; bring it back to go on as before.',
    }))
  const now = parts.options.config.agents.find((agent) => agent.name === state.agent.name)
  if (!now || JSON.stringify(now) !== JSON.stringify(state.agent)) {
    found.push({
      code: 'agent_changed',
      severity: 'info',
      message: `The agent "${state.agent.name}" has changed since this session began; the session keeps the old definition.`,
    })
  }
  if (state.policy !== parts.policy && state.grants.length > 0) {
    found.push({
      code: 'policy_changed',
      severity: 'warning',
      message: 'Sandbox or hooks have changed since approvals were given for this session; they were taken back.',
      remedy: 'Approve again what is still wanted.',
    })
  }
  return found
}
