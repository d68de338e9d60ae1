import type { ApprovalRule } from '../../contracts/index.ts'
import { isRulePattern } from '../../policy/rule-pattern.ts'
import type { ForeignAgent } from './foreign-agent.ts'

/**
 * What an agent of another program is denied and asked about, as rules. They hold for tools, too, that a person gives it
 * besides. `undefined` where there is nothing of the kind.
 */
export function foreignRules({ deniedTools, askTools, freeTools = [], commandRules = [] }: Judged): readonly ApprovalRule[] | undefined {
  const asked = usable(askTools)
  const denied = usable(deniedTools)
  // To look into what a call has printed is no use of a tool that anybody means.
  const free = asked.includes('*') ? [...usable(freeTools), readOutput] : usable(freeTools)
  // Of those that fit, the last counts; one that allows makes an exception from those before it, and nothing more.
  const rules: readonly ApprovalRule[] = [
    ...(asked.length > 0 ? [{ ask: asked }] : []),
    ...(asked.length > 0 && free.length > 0 ? [{ allow: free }] : []),
    ...commandRules,
    ...(denied.length > 0 ? [{ deny: denied, reason: 'The file of the agent denies it.' }] : []),
  ]
  return rules.length > 0 ? rules : undefined
}

type Judged = Pick<ForeignAgent, 'deniedTools' | 'askTools' | 'freeTools' | 'commandRules'>

const readOutput = 'read_output'

/** What is no name of a tool is none of a tool that there is. */
const usable = (names: readonly string[]): readonly string[] => names.filter(isRulePattern)
