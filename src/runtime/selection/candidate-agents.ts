import type { AgentDefinition } from '../api/agent-config.ts'

/**
 * Who may be chosen by what is asked: whom nobody else calls, and whoever says `infer: true`. A team speaks through
 * those at its top, whatever words the request shares with one of their children.
 */
export function candidateNames(agents: readonly AgentDefinition[]): ReadonlySet<string> {
  const called = new Set(agents.flatMap(({ agents: children = [] }) => children))
  const open = agents.filter(({ infer }) => infer !== false)
  const topLevel = open.filter(({ name, infer }) => infer === true || !called.has(name))
  return new Set((topLevel.length > 0 ? topLevel : open).map(({ name }) => name))
}
