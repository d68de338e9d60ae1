import type { AgentSpec } from '../../contracts/index.ts'
import { mergeSandbox } from '../../policy/merge-sandbox.ts'

/** A child as its parent calls it: bound by the rules and walls of the parent and of all before it, besides its own. */
export function applyInheritedRules(parent: AgentSpec, child: AgentSpec): AgentSpec {
  const rules = parent.approvals ?? []
  const bounds = [...(parent.bounds ?? []), ...(rules.length > 0 ? [{ name: `agent ${parent.name}`, rules }] : []), ...(child.bounds ?? [])]
  const sandbox = parent.sandbox ? mergeSandbox(parent.sandbox, child.sandbox ?? {}) : child.sandbox
  return { ...child, ...(bounds.length > 0 && { bounds }), ...(sandbox && { sandbox }) }
}
