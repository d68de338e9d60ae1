import type { ToolFailure } from '../../contracts/index.ts'
import type { Branch } from './open-session.ts'

/** Why a session may not have a child of that name now, if it may not: cycles, levels, numbers. */
export function childRefusal(parent: Branch, name: string): ToolFailure | undefined {
  const line = lineage(parent)
  if (line.some(({ session }) => session?.state.agent.name === name))
    return {
      class: 'config',
      message: `${name} is already at work above this call: it cannot be its own child.`,
      remedy: 'Do it yourself.',
    }
  for (const [index, { session, children }] of line.entries()) {
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
function lineage(branch: Branch): readonly Branch[] {
  const line = [branch]
  for (let at = branch.above; at; at = at.above) line.push(at)
  return line
}
