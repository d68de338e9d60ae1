import type { ApprovalRequest } from '../contracts/index.ts'
import { subjectsIn } from './call-summary.ts'

/** A request for approval in one line. A request to leave the sandbox names its command, not its JSON. */
export function requestSummary({ scope, tool, summary, input }: Pick<ApprovalRequest, 'scope' | 'tool' | 'summary' | 'input'>): string {
  if (scope !== 'unsandboxed' || !summary.startsWith(`Run ${tool} again outside the sandbox`)) return summary
  const about = subjectsIn(input).join(' · ')
  return about === '' ? summary : `${runAgainOutside}${about}`
}

export const runAgainOutside = 'Run again outside the sandbox: '
