import type { AgentSpec, ApprovalPolicy, ToolApproval } from '../../contracts/index.ts'
import type { OfferedTool } from '../tools/tool-registry.ts'
import { hasRulesAbout, ruling, stricter } from './rules.ts'

/** What is known of the approval of a tool before it is called: the rules of the session and of the agent, and the tool itself. */
export function toolApproval({ tool, name }: OfferedTool, { name: agent, approvals = [] }: AgentSpec, rules: readonly ApprovalPolicy[]) {
  const subject = { names: [name, tool.name], keys: [] }
  const own = [{ name: `agent ${agent}`, rules: approvals }]
  const [session, ofAgent] = [ruling(rules, subject), ruling(own, subject)]
  // The rules of an agent can only be stricter.
  const ruled = ofAgent?.verdict === 'allow' ? session : stricter(session, ofAgent)
  if (ruled) return ruled.verdict
  const mayAsk = (tool.approval && !tool.asksByRuleOnly) || hasRulesAbout([...rules, ...own], subject.names)
  return (mayAsk ? 'depends' : 'none') satisfies ToolApproval
}
