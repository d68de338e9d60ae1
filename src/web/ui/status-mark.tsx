import type { CallNode, TurnNode } from '../../view/index.ts'
import { Icon, type IconName } from './icon.tsx'

/** `warning`: completed, with a problem. */
export type MarkStatus = CallNode['status'] | TurnNode['status'] | 'warning'

interface Mark {
  readonly icon: IconName
  readonly tone: 'running' | 'ok' | 'warning' | 'error' | 'muted'
  readonly label: string
}

const marks: { readonly [Status in MarkStatus]: Mark } = {
  running: { icon: 'running', tone: 'running', label: 'running' },
  waiting: { icon: 'clock', tone: 'muted', label: 'waiting' },
  completed: { icon: 'check', tone: 'ok', label: 'completed' },
  partial: { icon: 'check', tone: 'warning', label: 'partial' },
  warning: { icon: 'error', tone: 'warning', label: 'warning' },
  failed: { icon: 'close', tone: 'error', label: 'failed' },
  declined: { icon: 'close', tone: 'error', label: 'declined' },
  interrupted: { icon: 'stop', tone: 'warning', label: 'stopped' },
  suspended: { icon: 'pause', tone: 'warning', label: 'waiting for you' },
  skipped: { icon: 'close', tone: 'muted', label: 'skipped' },
  unknown: { icon: 'question', tone: 'warning', label: 'result unknown' },
}

/** A suspended session without open requests waits for its client, or for a message. */
export const sessionMark = ({ status, openRequests }: { readonly status: TurnNode['status']; readonly openRequests: number }) =>
  openRequests > 0 ? 'suspended' : status === 'suspended' ? 'waiting' : status

export const statusLabel = (status: MarkStatus): string => marks[status].label
export const statusTone = (status: MarkStatus): Mark['tone'] => marks[status].tone

export function StatusMark({ status }: { readonly status: MarkStatus }) {
  const { icon, tone, label } = marks[status]
  return (
    <span class={`mark tone-${tone}`} role="img" aria-label={label} title={label}>
      <Icon name={icon} class={status === 'running' ? 'spin' : ''} />
    </span>
  )
}
