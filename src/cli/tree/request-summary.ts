import type { ApprovalRequest } from '../../contracts/index.ts'
import { namedIn } from './call-words.ts'

/** What is asked for in a line. To leave the sandbox is asked for by the command, or whatever the call is about, not by its JSON. */
export function requestSummary({ scope, tool, summary, input }: Pick<ApprovalRequest, 'scope' | 'tool' | 'summary' | 'input'>): string {
  if (scope !== 'unsandboxed' || !summary.startsWith(`Run ${tool} again outside the sandbox`)) return summary
  const about = namedIn(input).join(' · ')
  return about === '' ? summary : `${again}${about}`
}

export const again = 'Run again outside the sandbox: '
