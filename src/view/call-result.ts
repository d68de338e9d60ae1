import type { CallIntent, CallRecord } from '../contracts/index.ts'
import { isPlainObject } from '../util/json-schema/schema-values.ts'

// Typed facts from the result of a call. Tools may be anybody's code: a value of an unexpected shape gives nothing.

export interface FileChange {
  readonly path: string
  readonly kind: string
  readonly to?: string
  readonly added: number
  readonly removed: number
  readonly diff: string
}

/** The exit code of a command that ended by itself. */
export function exitCodeOf({ type, value }: Pick<CallRecord, 'type' | 'value'>): number | undefined {
  return type === 'command_execution' && isPlainObject(value) && typeof value.exitCode === 'number' ? value.exitCode : undefined
}

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

/** Who approved a call, or the answer to its question. */
export type CallPermit = { readonly kind: 'approved'; readonly by: string } | { readonly kind: 'answered'; readonly text: string }

export function permitOf({ answer, approved }: Pick<CallIntent, 'answer' | 'approved'>): CallPermit | undefined {
  if (answer !== undefined) return { kind: 'answered', text: answer }
  return approved && { kind: 'approved', by: approved.by }
}

/** The name in journals for answers at the terminal of a run. */
export const terminalApproverName = 'person at the terminal'

/** `approved by anna`, `granted for the project`, `allowed: write_file (the command line)`. `by`: a person, a rule or an earlier grant. */
export function decidedText(what: 'approved' | 'answered' | 'declined', by: string): string {
  if (by.startsWith('granted')) return by
  if (by.startsWith('allow ')) return `allowed: ${by.slice('allow '.length)}`
  return by === terminalApproverName ? `${what} at the terminal` : `${what} by ${by}`
}
