import { type Glob, parseGlob } from '../util/glob.ts'
import { parseRulePattern } from './rule-pattern.ts'

/** What leaving the sandbox is called in rules. A rule that allows everything does not allow this: it has to be named. */
export const unsandboxedName = 'unsandboxed'

/** What rules about leaving the sandbox can look like. */
export const unsandboxedForms = `Write ${unsandboxedName} for any call, ${unsandboxedName}(shell:*) for any of shell, or ${unsandboxedName}(shell:{"command":"npm test*) for commands that begin like this.`

/**
 * Whether a rule is about leaving the sandbox in a way that never happens. Its use is the tool with a colon and the
 * arguments as JSON: `shell:{"command":"npm test"}`.
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
