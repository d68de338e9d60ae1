/** `web_fetch`, `shell(git status*)`, `github/*`: a tool, perhaps with what it is used for in brackets. A regular expression. */
export const approvalPattern = '[\\w./*-]+(?:\\([^\\0]*\\))?'

const whole = new RegExp(`^(?:${approvalPattern})$`, 's')

export const isApprovalPattern = (written: string): boolean => whole.test(written)

/** The tool that a pattern is about. */
export const toolOfPattern = (pattern: string): string => pattern.slice(0, pattern.indexOf('(') === -1 ? undefined : pattern.indexOf('('))
