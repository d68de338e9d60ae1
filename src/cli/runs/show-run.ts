import { TroupeError } from '../../contracts/index.ts'
import type { RunsInvocation } from '../agents-invocations.ts'
import type { Place } from '../approvals/go-on-command.ts'
import { runFolder, withRuns } from '../approvals/run-store.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Host } from '../host.ts'
import { runEnd } from '../run-documents.ts'
import { safeJson } from '../safe-json.ts'
import { paintOn } from './paint-on.ts'
import { isResting, shownDocument } from './shown-document.ts'
import { shownLines } from './shown-lines.ts'
import { type ShownRun, shownRun, unknownRun } from './shown-run.ts'

/** `troupe runs show`: one run as it stands in its journal. Nothing is claimed or changed, whoever drives it. */
export async function showRun(invocation: RunsInvocation, host: Host): Promise<number> {
  const { output, id, dataDir } = invocation
  if (id === undefined || id === '')
    throw new TroupeError('usage', 'No run is named.', { remedy: 'Name one that runs list shows: troupe runs show ID' })
  const folder = await runFolder(invocation, host)
  const place: Place = { here: process.cwd(), folder, dataDir }
  const shown = await withRuns<ShownRun | undefined>(folder, undefined, (store) => shownRun(store, id, place))
  if (!shown) throw unknownRun(id, [], place)
  switch (output) {
    case 'json':
      await host.stdout.line(safeJson(shownDocument(shown, place)))
      break
    case 'stream-json':
      await stream(shown, host)
      break
    case 'answer':
      await host.stdout.prose(
        shownLines(shown, {
          place,
          paint: paintOn(host),
          width: host.stdout.columns ?? host.width,
          isWindow: host.stdout.columns !== undefined,
          now: host.now(),
        }),
      )
      break
    default:
      output satisfies never
  }
  return exitCodes.done.code
}

/** As `run --stream-json` writes it, without what was only live; a run that does not rest has no end yet. */
async function stream(shown: ShownRun, { stdout }: Host): Promise<void> {
  for (const event of shown.events) await stdout.line(safeJson(event))
  if (isResting(shown)) await stdout.line(safeJson(runEnd(shown.outcome)))
}
