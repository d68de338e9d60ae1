import type { HookNode, RejectedAnswer } from '../../../view/index.ts'
import { printable } from '../../terminal/printable.ts'
import { type Detail, leafRow, type RowNode } from './tree-row.ts'

// Effects of hooks, and rejected answers.

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

/** It costs a step, or the hook failed. */
const needsAttention = ({ verdict }: HookNode): boolean => verdict === 'resumed' || verdict === 'failed'

/** The hook that blocked a call is named in its error. */
export const hookDetails = (hooks: readonly HookNode[]): readonly Detail[] =>
  hooks
    .filter(({ verdict }) => verdict !== 'blocked')
    .map((node) => ({ text: hookText(node), shade: needsAttention(node) ? ('yellow' as const) : ('dim' as const) }))

/** `blocked by hook guard: A person publishes.` */
export function blockText(hooks: readonly HookNode[]): string | undefined {
  const blocker = hooks.find(({ verdict }) => verdict === 'blocked')
  return blocker && `blocked by ${hookName(blocker)}: ${printable(blocker.message)}`
}

/** `isLast`: the turn failed, so the model was not asked again. */
export const rejectedLabel = (isLast: boolean): string => (isLast ? 'answer rejected' : 'answer sent back')

export function rejectedRow(refused: RejectedAnswer, isLast: boolean): RowNode {
  const look = isLast ? { icon: '✗', shade: 'red' as const } : { icon: '↻', shade: 'yellow' as const }
  return leafRow({ kind: 'note', ...look, label: rejectedLabel(isLast), note: problemText(refused) }, 0)
}

export function problemText({ problems: [first = '', ...others] }: RejectedAnswer): string {
  return `${printable(first)}${others.length > 0 ? ` · and ${others.length} more` : ''}`
}
