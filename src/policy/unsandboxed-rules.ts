import { type Glob, parseGlob } from '../util/glob.ts'
import { parseRulePattern } from './rule-pattern.ts'

/** The name of unsandboxed calls in rules. A rule that allows everything does not allow them. */
export const unsandboxedName = 'unsandboxed'

export const unsandboxedForms = `Write ${unsandboxedName} for any call, ${unsandboxedName}(shell:*) for any of shell, or ${unsandboxedName}(shell:{"command":"npm test*) for commands that begin like this.`

/**
 * Whether a rule for unsandboxed calls can never match. The use of such a call is the tool, a colon and the arguments as JSON:
 * `shell:{"command":"npm test"}`.
 */
export function isImpossibleUnsandboxedRule(pattern: string): boolean {
  const { tool, use } = parseRulePattern(pattern)
  return tool === unsandboxedName && use !== undefined && !canFit(parseGlob(use))
}

function canFit(glob: Glob): boolean {
  const [first = ''] = glob
  const last = glob.length === 1 ? first : (glob.at(-1) ?? '')
  if (!(glob.length > 1 && last === '') && !last.endsWith('}')) return false
  const [name = '', ...input] = first.split(':')
  if (!/^[\w./-]*$/.test(name)) return false
  const begun = input.join(':')
  return begun === '' || begun.startsWith('{')
}
