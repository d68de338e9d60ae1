import type { CallPermit, FileChange } from '../../view/index.ts'
import { printable } from '../terminal/paint.ts'

// Short texts about a call: changed files, approvals, the sandbox.

/** A command that ended by itself, and not well: the call did what it should, the command did not. */
export const isFailedExit = (exitCode: number | undefined): exitCode is number => exitCode !== undefined && exitCode !== 0

/** `src/a.ts +3 -1`, `old.ts → new.ts`, `gone.ts deleted`. */
export function changeText(change: FileChange): string {
  const { path, to, kind } = change
  const gone = kind === 'delete' ? 'deleted' : ''
  return [printable(to === undefined ? path : `${path} → ${to}`), gone, lineCounts(change)].filter(Boolean).join(' ')
}

/** `+3 -1`; nothing where no line has changed. */
export const lineCounts = ({ added, removed }: Pick<FileChange, 'added' | 'removed'>): string =>
  [added > 0 ? `+${added}` : '', removed > 0 ? `-${removed}` : ''].filter(Boolean).join(' ')

/** In a few words: `approved at the terminal`, `granted for the project`, `allowed: write_file (the command line)`. */
export function permitText(permit: CallPermit): string {
  if (permit.kind === 'answered') return `answered: ${printable(permit.text)}`
  return decidedText('approved', permit.by)
}

/** A rule has spoken, or what was granted before: nobody was asked. */
export const isAutomatic = (by: string): boolean => /^(?:granted|allow) /.test(by)

/** Who has decided: a person, a rule, or what was granted before. */
export function decidedText(what: 'approved' | 'answered' | 'declined', by: string): string {
  const said = printable(by)
  if (said.startsWith('granted')) return said
  if (said.startsWith('allow ')) return `allowed: ${said.slice('allow '.length)}`
  return said === terminalApproverName ? `${what} at the terminal` : `${what} by ${said}`
}

/** How journals name whoever answered at the terminal of a run. */
export const terminalApproverName = 'person at the terminal'

/** `ran outside the sandbox, approved at the terminal`. */
export function unsandboxedText(by: string, tense: 'runs' | 'ran'): string {
  return [`${tense} outside the sandbox`, ...(by === '' ? [] : [decidedText('approved', by)])].join(', ')
}
