import { localPrincipal, TroupeError } from '../../../contracts/index.ts'
import { resumeHint } from '../../../project/index.ts'
import { forkSession } from '../../../runtime/index.ts'
import type { SessionsInvocation } from '../../arguments/project-invocations.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printDocument, printNotice } from '../../terminal/print-messages.ts'
import type { Host } from '../../terminal/process-host.ts'
import { withSession } from './find-session.ts'
import { storedDocument } from './session-document.ts'
import { storedSession } from './stored-sessions.ts'

/** `troupe sessions fork`: copies a session, or its beginning, into a new one. */
export async function forkStoredSession(invocation: SessionsInvocation, host: Host): Promise<number> {
  const { output, display } = invocation
  const { forked, from, seq, place } = await withSession(invocation, host, async (store, entry, where) => {
    const last = lastEvent(invocation, entry.seq)
    const forkId = await forkSession(store, entry.treeId, { seq: last, principal: localPrincipal })
    const copy = await store.trees.get(forkId)
    if (!copy) throw new TroupeError('internal', `The copy ${forkId} of session ${entry.treeId} was not stored.`)
    return { forked: await storedSession(store, copy), from: entry.treeId, seq: last, place: where }
  })
  if (output === 'json') {
    await printDocument({ ...storedDocument(forked, place), forkedFrom: { sessionId: from, seq } }, host)
    return exitCodes.done.code
  }
  await host.stdout.line(forked.run.treeId)
  const resume = resumeHint(forked, place)
  // A server begins a turn with a message, not with its start.
  const isServed = forked.origin?.command === 'serve'
  const hint = isServed ? `${resume}, then POST /v1/sessions/${forked.run.treeId}/messages` : resume
  await printNotice(`Continue it: ${hint}`, { host, display })
  return exitCodes.done.code
}

function lastEvent({ at }: SessionsInvocation, last: number): number {
  if (at === undefined) return last
  const seq = /^\d+$/.test(at) ? Number(at) : 0
  if (seq >= 1 && seq <= last) return seq
  const problem = { place: '--at', message: `expected the seq of an event, from 1 to ${last}, found ${at}` }
  throw new TroupeError('usage', 'Invalid arguments for sessions fork.', {
    problems: [{ ...problem, remedy: 'The events with their seq: troupe sessions show ID --stream-json' }],
  })
}
