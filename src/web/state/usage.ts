import { useComputed } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import type { UsageGrouping } from '../../contracts/index.ts'
import { startOfLastDays } from '../../util/utc-day.ts'
import type { ServerStatus, UsageDocument } from '../api/documents.ts'
import { ApiError } from '../api/http.ts'
import { sentenceOf } from './actions.ts'
import { type Page, usePage } from './page.ts'

export type UsageState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'ready'; readonly report: UsageDocument }
  | { readonly kind: 'failed'; readonly message: string; readonly remedy: string | undefined }

interface UsageWanted {
  readonly by: UsageGrouping
  /** The last days in UTC, today included. */
  readonly days: number
}

/** What ended turns have used. It is read again when a turn ends; until then, and while it is read, the figures before are shown. */
export function useUsage({ by, days }: UsageWanted): UsageState {
  const page = usePage()
  const [state, setState] = useState<UsageState>({ kind: 'loading' })
  const ended = useComputed(() => endedTurns(page)).value
  useEffect(() => {
    let isCurrent = true
    void read(page, { by, days }).then((next) => {
      if (isCurrent) setState(next)
    })
    return () => {
      isCurrent = false
    }
  }, [by, days, ended, page.tokenGiven.value])
  // Groups of another kind are no answer.
  return state.kind === 'ready' && state.report.by !== by ? { kind: 'loading' } : state
}

/** Changes when a turn ends: a session then rests, and has another last event. */
const endedTurns = ({ sessions }: Page): string =>
  sessions.value
    .filter(({ status }) => status !== 'running')
    .map(({ sessionId, seq }) => `${sessionId} ${seq}`)
    .join()

async function read(page: Page, { by, days }: UsageWanted): Promise<UsageState> {
  const query = new URLSearchParams({ by, since: new Date(startOfLastDays(days, Date.now() + page.http.ahead())).toISOString() })
  try {
    const [report, status] = await Promise.all([
      page.http.get<UsageDocument>(`/v1/usage?${query}`),
      // What is left of the budget.
      page.http.get<ServerStatus>('/v1/status'),
    ])
    page.status.value = status
    return { kind: 'ready', report }
  } catch (error) {
    return { kind: 'failed', message: sentenceOf(error), remedy: error instanceof ApiError ? error.remedy : undefined }
  }
}
