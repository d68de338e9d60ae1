import type { SessionDocument } from '../api/documents.ts'

const endings: { readonly [status: string]: string } = {
  completed: 'Has ended.',
  partial: 'Has ended with a part of the answer.',
  failed: 'Has failed.',
}

type Known = Pick<SessionDocument, 'status' | 'openRequests'>

/** What a person who does not look should hear: it waits for them, or has ended. Nothing of sessions that were not known before. */
export function sessionNews(before: Known | undefined, now: Known): string | undefined {
  if (!before) return undefined
  if (now.openRequests > before.openRequests) return 'Needs your decision.'
  if (before.status === now.status || now.openRequests > 0) return undefined
  return before.status === 'running' || before.status === 'suspended' ? endings[now.status] : undefined
}
