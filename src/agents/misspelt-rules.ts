import { type ApprovalRule, ruleVerdicts } from '../contracts/index.ts'
import { nearestNames } from '../util/nearest-names.ts'
import { partsOfPattern } from '../util/rule-pattern.ts'
import { builtinToolNames, selfGivenTools } from './builtin-tool-names.ts'
import { isVainLeaving, leavingForms, leavingTheSandbox } from './leaving-rules.ts'
import { listed } from './words.ts'

/** A rule about a tool that there is not, and almost is, or about what never happens: whoever wrote it believes that it holds. */
export interface MisspeltRule {
  readonly index: number
  readonly message: string
  readonly remedy: string
}

/** Every name that a rule may have without anything being configured. */
export const ruledToolNames: readonly string[] = [...builtinToolNames, ...Object.keys(selfGivenTools), leavingTheSandbox]

/** What nothing is near to may be a tool that comes from elsewhere, and is let stand. */
export function misspeltRules(rules: readonly ApprovalRule[], tools: readonly string[] = []): readonly MisspeltRule[] {
  return rules.flatMap((rule, index) =>
    ruleVerdicts
      .flatMap((verdict) => rule[verdict] ?? [])
      .flatMap((pattern) => (isVainLeaving(pattern) ? vainLeaving(pattern) : (misspeltTool(partsOfPattern(pattern).tool, tools) ?? [])))
      .map((fault) => ({ index, ...fault })),
  )
}

const vainLeaving = (pattern: string): Omit<MisspeltRule, 'index'> => ({ message: `\`${pattern}\` fits nothing`, remedy: leavingForms })

/** The same of one name of a tool, or of a pattern for names. */
export function misspeltTool(name: string, tools: readonly string[] = []): Omit<MisspeltRule, 'index'> | undefined {
  if (/[*./]/.test(name) || name.startsWith('agent__') || ruledToolNames.includes(name) || tools.includes(name)) return undefined
  const near = nearestNames(name, [...ruledToolNames, ...tools])
  return near.length > 0 ? { message: `no tool is called \`${name}\``, remedy: `Did you mean ${listed(near)}?` } : undefined
}
