import type { CallIntent, CallRecord } from '../../contracts/index.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'
import { printable } from '../paint.ts'

// What people are shown of a call besides its name and what it is about. Tools are other people's code: what does not look as
// expected is not shown.

/** What a call has done to a file. */
export interface FileChange {
  readonly path: string
  readonly kind: string
  readonly to?: string
  readonly added: number
  readonly removed: number
  readonly diff: string
}

/** How a command ended that ended by itself. */
export function exitCodeOf({ type, value }: Pick<CallRecord, 'type' | 'value'>): number | undefined {
  return type === 'command_execution' && isPlainObject(value) && typeof value.exitCode === 'number' ? value.exitCode : undefined
}

/** A command that ended by itself, and not well: the call did what it should, the command did not. */
export const isUnwell = (exitCode: number | undefined): exitCode is number => exitCode !== undefined && exitCode !== 0

export function changesOf({ type, value }: Pick<CallRecord, 'type' | 'value'>): readonly FileChange[] {
  if (type !== 'file_change' || !isPlainObject(value) || !Array.isArray(value.changes)) return []
  return value.changes.flatMap((change: unknown): readonly FileChange[] => {
    if (!isPlainObject(change)) return []
    const { path, kind, to, added, removed, diff } = change
    if (typeof path !== 'string' || typeof added !== 'number' || typeof removed !== 'number') return []
    const more = { kind: typeof kind === 'string' ? kind : '', diff: typeof diff === 'string' ? diff : '' }
    return [{ path, added, removed, ...more, ...(typeof to === 'string' && { to }) }]
  })
}

/** `src/a.ts +3 -1`, `old.ts → new.ts`, `gone.ts deleted`. */
export function changeText(change: FileChange): string {
  const { path, to, kind } = change
  const gone = kind === 'delete' ? 'deleted' : ''
  return [printable(to === undefined ? path : `${path} → ${to}`), gone, lineCounts(change)].filter(Boolean).join(' ')
}

/** `+3 -1`; nothing where no line has changed. */
export const lineCounts = ({ added, removed }: Pick<FileChange, 'added' | 'removed'>): string =>
  [added > 0 ? `+${added}` : '', removed > 0 ? `-${removed}` : ''].filter(Boolean).join(' ')

/** Who let a call run, where that had to be asked; or what somebody answered to its question. */
export type CallPermit = { readonly kind: 'approved'; readonly by: string } | { readonly kind: 'answered'; readonly text: string }

export function permitOf({ answer, approved }: Pick<CallIntent, 'answer' | 'approved'>): CallPermit | undefined {
  if (answer !== undefined) return { kind: 'answered', text: answer }
  return approved && { kind: 'approved', by: approved.by }
}

/** In a few words: `approved at the terminal`, `granted for the project`, `allowed: write_file (the command line)`. */
export function permitText(permit: CallPermit): string {
  if (permit.kind === 'answered') return `answered: ${printable(permit.text)}`
  return decidedText('approved', permit.by)
}

/** A rule has spoken, or what was granted before: nobody was asked. */
export const isUnasked = (by: string): boolean => /^(?:granted|allow) /.test(by)

/** Who has decided: a person, a rule, or what was granted before. */
export function decidedText(what: 'approved' | 'answered' | 'declined', by: string): string {
  const said = printable(by)
  if (said.startsWith('granted')) return said
  if (said.startsWith('allow ')) return `allowed: ${said.slice('allow '.length)}`
  return said === atTheTerminal ? `${what} at the terminal` : `${what} by ${said}`
}

/** How journals name whoever answered at the terminal of a run. */
export const atTheTerminal = 'person at the terminal'

/** `ran outside the sandbox, approved at the terminal`. */
export function outsideText(by: string, tense: 'runs' | 'ran'): string {
  return [`${tense} outside the sandbox`, ...(by === '' ? [] : [decidedText('approved', by)])].join(', ')
}
