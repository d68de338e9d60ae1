import type { Clock, Hook, ProvidedContext } from '../../contracts/index.ts'
import { orchestratorName } from '../../policy/orchestrator-name.ts'
import { messageOf } from '../../util/message-of.ts'
import { withinTime } from '../shared/background-work.ts'
import type { LoadedExtension, ReportDiagnostic, Router, SupervisorPort } from '../shared/kernel-types.ts'

const maxChars = 8_000 // About 2,000 tokens.
const deadlineMs = 5_000
/** How long one that was late is not asked: each turn would wait for it. */
const restMs = 60_000

interface ProvidedContextOptions {
  readonly clock: Pick<Clock, 'after' | 'monotonic'>
  readonly supervisor: Pick<SupervisorPort, 'enter'>
  readonly router: Pick<Router, 'takeNotices'>
  readonly onDiagnostic: ReportDiagnostic
  list(): readonly LoadedExtension[]
}

/** Adds texts of extensions to the first request of each turn of the orchestrator, and what the person was sent meanwhile. */
export function contextHook({ clock, supervisor, router, onDiagnostic, list }: ProvidedContextOptions): Hook {
  const restsUntil = new Map<string, number>()
  return {
    name: 'extensions',
    onFailure: 'open',
    async beforeRequest({ agent, step }, { sessionId, treeId, principal }) {
      if (agent !== orchestratorName || step > 1) return { kind: 'continue' }
      const request = { agent, sessionId, person: principal }
      const isRested = (id: string): boolean => (restsUntil.get(id) ?? 0) <= clock.monotonic()
      const providers = list().filter(
        ({ state, capabilities, found }) => state === 'running' && capabilities.has('context') && isRested(found.id),
      )
      const provided = await Promise.all(
        providers.map(async ({ found: { id }, instance, runs }): Promise<readonly Text[]> => {
          const ask = () => instance.getContext?.(request)
          const began = clock.monotonic()
          try {
            const entered = () => (runs === 'kernel' ? supervisor.enter(id, 'getContext', ask) : ask())
            const given = await withinTime(entered, { clock, ms: deadlineMs })
            return given && typeof given.text === 'string' && given.text.trim() !== '' ? [{ ...given, id }] : []
          } catch (error) {
            if (clock.monotonic() - began >= deadlineMs) restsUntil.set(id, clock.monotonic() + restMs)
            const message = `${id}: getContext failed, and its text is left out: ${messageOf(error)}`
            onDiagnostic({ level: 'warn', source: id, message })
            return []
          }
        }),
      )
      const notices = (await router.takeNotices(treeId)).map(({ text }) => `The person was sent this message meanwhile: ${text}`)
      const text = [...notices, ...fitting(provided.flat())].join('\n\n')
      return text === '' ? { kind: 'continue' } : { kind: 'context', text }
    },
  }
}

interface Text extends ProvidedContext {
  readonly id: string
}

/** By priority, as many as fit. */
function fitting(texts: readonly Text[]): readonly string[] {
  let left = maxChars
  return texts
    .toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0))
    .flatMap(({ id, text }) => {
      if (text.length > left) return []
      left -= text.length
      return [`Context of ${id}:\n${text}`]
    })
}
