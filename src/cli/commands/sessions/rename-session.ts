import { type Problem, TroupeError } from '../../../contracts/index.ts'
import { aTitle } from '../../../policy/session-fields.ts'
import { originOf } from '../../../project/index.ts'
import { checkField } from '../../../util/option-problems.ts'
import type { SessionsInvocation } from '../../arguments/project-invocations.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printDocument } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { unknownSession, withSession } from './find-session.ts'
import { redactorFor } from './journal-redactor.ts'

/** `troupe sessions rename`: changes the title of a session, also while it runs. */
export async function renameSession(invocation: SessionsInvocation, host: Host): Promise<number> {
  const title = titleIn(invocation)
  const { treeId, ...entry } = await withSession(invocation, host, async (store, found, place) => {
    const origin = await originOf(store, found.treeId)
    const { text } = await redactorFor(origin ? { origin } : {}, host)
    const renamed = await store.trees.update(found.treeId, { title: text(title) })
    if (!renamed) throw unknownSession(found.treeId, place)
    return renamed
  })
  if (invocation.output === 'json') await printDocument({ sessionId: treeId, title: entry.title }, host)
  else await host.stdout.lines([`Renamed: ${treeId}  ${printable(`“${entry.title}”`)}`])
  return exitCodes.done.code
}

function titleIn({ ids: [, ...words] }: SessionsInvocation): string {
  const title = words.join(' ').trim()
  const remedy = 'For example: troupe sessions rename ID "Trip to Oslo"'
  if (words.length === 0) throw new TroupeError('usage', 'The title is missing.', { remedy })
  const problems: Problem[] = []
  checkField(problems, title, { type: aTitle, place: 'TITLE' })
  if (problems.length > 0) throw new TroupeError('usage', 'Invalid arguments for sessions rename.', { problems })
  return title
}
