import type { SessionDocument } from '../api/documents.ts'

interface DayGroup {
  readonly day: string
  readonly sessions: readonly SessionDocument[]
}

const dayMs = 86_400_000

/** Sessions by their age in calendar days: today, yesterday, this week, older by month. */
export function groupByDay(sessions: readonly SessionDocument[], now: number): readonly DayGroup[] {
  const groups = Map.groupBy(sessions, ({ createdAt }) => dayName(new Date(createdAt), new Date(now)))
  return [...groups].map(([day, those]) => ({ day, sessions: those }))
}

function dayName(at: Date, now: Date): string {
  const days = Math.round((midnight(now) - midnight(at)) / dayMs)
  if (days <= 0) return 'Today'
  if (days === 1) return 'Yesterday'
  return days < 7 ? 'Previous 7 days' : at.toLocaleDateString('en', { month: 'long', year: 'numeric' })
}

const midnight = (date: Date): number => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime()
