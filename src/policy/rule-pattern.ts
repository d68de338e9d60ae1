/** A regular expression for `web_fetch`, `shell(git status*)`, `github/*`: a tool, optionally with its use in parentheses. */
export const rulePattern = '[\\w./*-]+(?:\\([^\\0]*\\))?'

const whole = new RegExp(`^(?:${rulePattern})$`, 's')

export const isRulePattern = (written: unknown): written is string => typeof written === 'string' && whole.test(written)

export function parseRulePattern(pattern: string): { readonly tool: string; readonly use?: string } {
  const open = pattern.indexOf('(')
  if (open < 0 || !pattern.endsWith(')')) return { tool: pattern }
  return { tool: pattern.slice(0, open), use: pattern.slice(open + 1, -1) }
}
