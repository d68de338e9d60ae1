import type { ApprovalDecision, ApprovalRequest } from '../../contracts/index.ts'
import { exactLine } from '../../util/exact-text.ts'

interface GrantChoice {
  readonly label: string
  readonly decision: ApprovalDecision
}

const howLong = { session: 'For this session', project: 'For this project, until revoked' } as const

/** Approvals for more than this call, narrowest first: its own keys, then wider ones. A call without keys cannot be remembered. */
export function grantChoices(
  { keys, wider = [] }: Pick<ApprovalRequest, 'keys' | 'wider'>,
  { mayGrantProject }: { readonly mayGrantProject: boolean },
): readonly GrantChoice[] {
  const breadths = mayGrantProject ? (['session', 'project'] as const) : (['session'] as const)
  return breadths.flatMap((breadth) => [
    ...(keys.length > 0 ? [{ label: `${howLong[breadth]}: ${listed(keys)}`, decision: { kind: 'approve', breadth } as const }] : []),
    ...wider.map(({ key, label }) => ({
      label: `${howLong[breadth]}: ${exactLine(label)}`,
      decision: { kind: 'approve', breadth, key } as const,
    })),
  ])
}

/** Several labels are quoted, so that it is clear where each ends. */
function listed(keys: ApprovalRequest['keys']): string {
  const labels = keys.map(({ label }) => exactLine(label))
  return labels.length > 1 ? labels.map((label) => `“${label}”`).join(', ') : labels.join('')
}
