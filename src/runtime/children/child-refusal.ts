import type { ToolFailure } from '../../contracts/index.ts'
import type { OpenSession } from './open-session.ts'

/** Why a session may not have a child of that name now, if it may not: cycles, levels, numbers. */
export function childRefusal(parent: OpenSession, name: string): ToolFailure | undefined {
  const ancestry = lineage(parent)
  if (ancestry.some(({ session }) => session?.state.agent.name === name))
    return {
      class: 'config',
      message: `${name} is already at work above this call: it cannot be its own child.`,
      remedy: 'Do it yourself.',
    }
  for (const [index, { session, children }] of ancestry.entries()) {
    if (!session) continue
    const { name: who, limits } = session.state.agent
    if (index + 1 > limits.maxDepth)
      return {
        class: 'budget',
        message: `${who} may have ${limits.maxDepth} levels of children, and this would be one more.`,
        remedy: 'Do it yourself.',
      }
    if (children >= limits.maxChildren)
      return {
        class: 'budget',
        message: `${who} may start ${limits.maxChildren} children in a turn, and has.`,
        remedy: 'Go on with what you have.',
      }
  }
  return undefined
}

/** A branch and those above it, up to the root. */
function lineage(open: OpenSession): readonly OpenSession[] {
  const line = [open]
  for (let at = open.parent; at; at = at.parent) line.push(at)
  return line
}
