import type { ToolFailure } from '../../contracts/index.ts'
import type { OpenSession } from '../budgets/open-sessions.ts'

/** Why a session cannot start a child of this agent now: a cycle, the depth or the number of children. Nothing may be awaited after it. */
export function childRefusal(parent: OpenSession, name: string): ToolFailure | undefined {
  const ancestry = lineage(parent)
  if (ancestry.some(({ session }) => session?.state.agent.name === name))
    return {
      class: 'config',
      message: `${name} is already running as an ancestor of this call. An agent cannot be its own child.`,
      remedy: 'Do the task yourself.',
    }
  for (const [index, { session, children }] of ancestry.entries()) {
    if (!session) continue
    const { name: who, limits } = session.state.agent
    if (index + 1 > limits.maxDepth)
      return {
        class: 'budget',
        message: `${who} may have ${limits.maxDepth} levels of children; this child would exceed them.`,
        remedy: 'Do the task yourself.',
      }
    if (children >= limits.maxChildren)
      return {
        class: 'budget',
        message: `${who} has started the ${limits.maxChildren} children that it may start in a turn.`,
        remedy: 'Continue with the results you have.',
      }
  }
  return undefined
}

/** A session and its ancestors, up to the root. */
function lineage(open: OpenSession): readonly OpenSession[] {
  const line = [open]
  for (let at = open.parent; at; at = at.parent) line.push(at)
  return line
}
