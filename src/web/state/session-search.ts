import { useEffect, useState } from 'preact/hooks'
import type { SessionDocument, SessionPage } from '../api/documents.ts'
import { type Page, usePage } from './page.ts'

const pauseMs = 150
const maxText = 200

interface SessionSearch {
  readonly sessions: readonly SessionDocument[]
  /** The server has not answered yet. */
  readonly isOpen: boolean
}

/** Sessions whose title or agent has the text: those of the list, then older ones of the server. */
export function useSessionSearch(text: string): SessionSearch {
  const page = usePage()
  const wanted = text.trim().toLowerCase()
  const isNeeded = wanted !== '' && page.nextSessions.value !== undefined
  const [older, setOlder] = useState<{ readonly wanted: string; readonly sessions: readonly SessionDocument[] }>()
  useEffect(() => {
    if (!isNeeded) return
    let isCurrent = true
    const timer = setTimeout(async () => {
      const sessions = await search(page, wanted)
      if (isCurrent) setOlder({ wanted, sessions })
    }, pauseMs)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [isNeeded, wanted])
  const local = sessionsWith(page.sessions.value, wanted)
  if (!isNeeded) return { sessions: local, isOpen: false }
  if (older?.wanted !== wanted) return { sessions: local, isOpen: true }
  const known = new Set([...page.sessions.value.map(({ sessionId }) => sessionId as string), ...page.deleted.value])
  return { sessions: [...local, ...older.sessions.filter(({ sessionId }) => !known.has(sessionId))], isOpen: false }
}

const sessionsWith = (sessions: readonly SessionDocument[], wanted: string): readonly SessionDocument[] =>
  wanted === '' ? sessions : sessions.filter(({ title, agent }) => `${title} ${agent}`.toLowerCase().includes(wanted))

/** Without an answer there is nothing older; the banner says that the server does not answer. */
async function search({ http, folder }: Page, text: string): Promise<readonly SessionDocument[]> {
  try {
    return (
      await http.get<SessionPage>(
        `/v1/sessions?${new URLSearchParams({ folder: folder.value, text: text.slice(0, maxText), limit: '50' })}`,
      )
    ).sessions
  } catch {
    return []
  }
}
