import { type Glob, globOf } from '../util/glob.ts'
import { partsOfPattern } from './rule-pattern.ts'

/** What leaving the sandbox is called in rules. A rule that allows everything does not allow this: it has to be named. */
export const leavingTheSandbox = 'unsandboxed'

/** What rules about leaving the sandbox can look like. */
export const leavingForms = `Write ${leavingTheSandbox} for any call, ${leavingTheSandbox}(shell:*) for any of shell, or ${leavingTheSandbox}(shell:{"command":"npm test*) for commands that begin like this.`

/**
 * Whether a rule is about leaving the sandbox in a way that never happens. Its use is the tool with a colon and the
 * arguments as JSON: `shell:{"command":"npm test"}`.
 */
export function isVainLeaving(pattern: string): boolean {
  const { tool, use } = partsOfPattern(pattern)
  return tool === leavingTheSandbox && use !== undefined && !canFit(globOf(use))
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
