import { writeFile } from 'node:fs/promises'
import { TroupeError } from '../../../contracts/index.ts'
import { originOf } from '../../../project/index.ts'
import { exportSession } from '../../../runtime/index.ts'
import { messageOf } from '../../../util/message-of.ts'
import { plural } from '../../../util/plural.ts'
import type { SessionsInvocation } from '../../arguments/project-invocations.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printDocument, printNotice } from '../../terminal/print-messages.ts'
import type { Host } from '../../terminal/process-host.ts'
import { safeJson } from '../../terminal/safe-json.ts'
import { withSession } from './find-session.ts'
import { redactorFor } from './journal-redactor.ts'

/** `troupe sessions export`: one JSON document with the journal and the stored outputs. */
export async function exportStoredSession(invocation: SessionsInvocation, host: Host): Promise<number> {
  const { file, output, display } = invocation
  const exported = await withSession(invocation, host, async (store, { treeId }) => {
    const origin = await originOf(store, treeId)
    return exportSession(store, treeId, await redactorFor(origin ? { origin } : {}, host))
  })
  if (file === undefined) {
    await host.stdout.line(safeJson(exported))
    return exitCodes.done.code
  }
  await write(file, `${JSON.stringify(exported, undefined, 2)}\n`)
  const { session, events, blobs } = exported
  const counts = { events: events.length, outputs: Object.keys(blobs).length }
  if (output === 'json') await printDocument({ sessionId: session.sessionId, file, ...counts }, host)
  else
    await printNotice(`Wrote ${plural(counts.events, 'event')} and ${plural(counts.outputs, 'stored output')} to ${file}.`, {
      host,
      display,
    })
  return exitCodes.done.code
}

/** Only for its user: a conversation is private. */
async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { mode: 0o600 })
  } catch (cause) {
    const problem = { place: file, message: `The file cannot be written: ${messageOf(cause)}.`, remedy: 'Use another file.' }
    throw new TroupeError('usage', 'The session was not exported.', { problems: [problem], cause })
  }
}
