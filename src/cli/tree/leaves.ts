import { type Diagnostic, noUsage, type ToolFailure, type Usage } from '../../contracts/index.ts'
import { duration, elapsed, tokens } from '../figures.ts'
import { printable } from '../paint.ts'
import { type Branch, type Detail, leaf, type Row } from './branch.ts'
import type { AttemptNode } from './run-tree.ts'

/** Characters that make a token, about. */
const charactersPerToken = 4

/** What an attempt has used, or is thought to have used so far. */
export function usageOf({ usage, expected, characters, failure }: AttemptNode): Usage {
  if (usage) return usage
  return failure ? noUsage : { ...noUsage, input: expected, output: Math.ceil(characters / charactersPerToken), estimated: true }
}

interface AttemptPlace {
  readonly last: AttemptNode | undefined
  readonly isOpen: boolean
}

export function attemptBranch(attempt: AttemptNode, { last, isOpen }: AttemptPlace): Branch {
  const { model, failure, latencyMs, usage, span, nextAt } = attempt
  const isFinal = attempt === last && !(isOpen && nextAt !== undefined)
  const isCancelled = failure?.class === 'cancelled'
  const row: Row = {
    kind: 'attempt',
    icon: isCancelled ? '■' : isFinal ? '✗' : '↻',
    label: String(failure?.class),
    note: `${model === last?.model ? '' : `${printable(model)} · `}${printable(failure?.message ?? '')}`,
    shade: isFinal && !isCancelled ? 'red' : 'yellow',
    ...(latencyMs !== undefined && { time: duration(latencyMs) }),
    ...(usage && usage.input + usage.output > 0 && { tokens: tokens(usage) }),
    span,
  }
  return leaf(row, span.to)
}

/** Counts down to the next attempt. */
export function pauseBranch(attempt: AttemptNode | undefined, now: number): readonly Branch[] {
  if (attempt?.nextAt === undefined) return []
  const left = Math.max(0, attempt.nextAt - now)
  // Rounded up: it never says 0.0 s while there is something to wait for.
  const row: Row = { kind: 'attempt', icon: '◷', label: `next attempt in ${elapsed(Math.ceil(left / 100) * 100)}`, shade: 'cyan' }
  return [{ ...leaf(row, now), state: 'running' }]
}

export function failureDetails({ class: kind, message, remedy }: ToolFailure): readonly Detail[] {
  const what = { text: `${kind}: ${printable(message)}`, shade: 'red' as const }
  return remedy === undefined ? [what] : [what, { text: `→ ${printable(remedy)}`, shade: 'dim' }]
}

export function approvalBranch(summary: string): Branch {
  const row: Row = { kind: 'note', icon: '?', label: 'approval needed', note: printable(summary), shade: 'yellow' }
  return { ...leaf(row, 0), state: 'running' }
}

export function noteBranch({ code, severity, message, remedy }: Diagnostic): Branch {
  const row: Row = {
    kind: 'note',
    icon: '!',
    label: code,
    note: printable(message),
    ...(severity !== 'info' && { shade: severity === 'error' ? ('red' as const) : ('yellow' as const) }),
    ...(remedy !== undefined && { details: [{ text: `→ ${printable(remedy)}`, shade: 'dim' as const }] }),
  }
  return leaf(row, 0)
}
