import type { HookNode, RejectedAnswer } from '../../view/index.ts'
import { printable } from '../terminal/paint.ts'
import { type Detail, leafRow, type RowNode } from './tree-row.ts'

// Why there is another step, or a call is not what the model has asked for: answers that were sent back, and what hooks did.

const hookWords: { readonly [Verdict in HookNode['verdict']]: string } = {
  changed: 'changed the arguments',
  blocked: 'blocked the call',
  context: 'added',
  resumed: 'sent the answer back',
  failed: 'failed',
}

const hookName = ({ hook }: HookNode): string => `hook ${printable(hook)}`
const hookEffect = ({ verdict, message }: HookNode): string => [hookWords[verdict], printable(message)].filter(Boolean).join(': ')
export const hookText = (node: HookNode): string => `⚑ ${hookName(node)} ${hookEffect(node)}`

export const hookRow = (node: HookNode): RowNode =>
  leafRow(
    { kind: 'note', icon: '⚑', label: hookName(node), note: hookEffect(node), ...(needsAttention(node) && { shade: 'yellow' as const }) },
    0,
  )

/** It costs a step, or was meant to do something that it did not. */
const needsAttention = ({ verdict }: HookNode): boolean => verdict === 'resumed' || verdict === 'failed'

/** What hooks did to a call that ran: whoever has blocked one is named where that is told. */
export const hookDetails = (hooks: readonly HookNode[]): readonly Detail[] =>
  hooks
    .filter(({ verdict }) => verdict !== 'blocked')
    .map((node) => ({ text: hookText(node), shade: needsAttention(node) ? ('yellow' as const) : ('dim' as const) }))

/** `blocked by hook guard: A person publishes.` */
export function blockText(hooks: readonly HookNode[]): string | undefined {
  const blocker = hooks.find(({ verdict }) => verdict === 'blocked')
  return blocker && `blocked by ${hookName(blocker)}: ${printable(blocker.message)}`
}

/** `sent back` where the model was asked again; the last one of a turn that failed is only refused. */
export const rejectedLabel = (isLast: boolean): string => (isLast ? 'answer rejected' : 'answer sent back')

export function rejectedRow(refused: RejectedAnswer, isLast: boolean): RowNode {
  const look = isLast ? { icon: '✗', shade: 'red' as const } : { icon: '↻', shade: 'yellow' as const }
  return leafRow({ kind: 'note', ...look, label: rejectedLabel(isLast), note: problemText(refused) }, 0)
}

/** The first one is enough to see what it is about. */
export function problemText({ problems: [first = '', ...others] }: RejectedAnswer): string {
  return `${printable(first)}${others.length > 0 ? ` · and ${others.length} more` : ''}`
}
