import type { UsageReport } from '../../../contracts/index.ts'
import { sessionPlace, storeName, withSessions } from '../../../project/index.ts'
import { startOfLastDays } from '../../../util/utc-day.ts'
import { noTotals } from '../../../view/index.ts'
import type { UsageInvocation } from '../../arguments/project-invocations.ts'
import { readRanges } from '../../arguments/read-ranges.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printDocument, printNotice, stdoutPaint } from '../../terminal/print-messages.ts'
import type { Host } from '../../terminal/process-host.ts'
import { unindexedNotice } from './unindexed-notice.ts'
import { usageLines } from './usage-lines.ts'

const defaultDays = 30

interface Found {
  readonly report: UsageReport
  readonly unindexed: number
}

/** `troupe usage`: what the sessions of the data folder have used. */
export async function usageCommand(invocation: UsageInvocation, host: Host): Promise<number> {
  const { by, output, display, dataDir } = invocation
  const { since = defaultSince(invocation, host.now()), until } = readRanges(invocation, host.now())
  const range = { ...(since !== undefined && { since }), ...(until !== undefined && { until }) }
  const place = await sessionPlace(invocation, host)
  const { report, unindexed } = await withSessions<Found>(
    place,
    { report: { by, groups: [], total: noTotals }, unindexed: 0 },
    async ({ turns }) => ({
      report: await turns.usage({ by, ...range }),
      unindexed: await turns.unindexed(),
    }),
  )
  const times = Object.fromEntries(Object.entries(range).map(([name, at]) => [name, new Date(at).toISOString()]))
  if (output === 'json') {
    await printDocument({ ...times, ...report, ...(unindexed > 0 && { unindexed }) }, host)
    return exitCodes.done.code
  }
  const hasUsage = report.groups.length > 0
  if (hasUsage) await host.stdout.lines(usageLines(report, { paint: stdoutPaint(host), columns: host.stdout.columns }))
  const { unpriced } = report.total
  const notices = [
    ...(hasUsage ? [] : [`No turn has ended ${rangeText(times)} in ${storeName(place)}.`]),
    ...(unpriced > 0
      ? [`${unpriced === 1 ? '1 request without a price is' : `${unpriced} requests without a price are`} not in the cost.`]
      : []),
    ...unindexedNotice(unindexed, dataDir, 'counted'),
  ]
  for (const notice of notices) await printNotice(notice, { host, display })
  return exitCodes.done.code
}

/** The last 30 days in UTC, today included, unless an end is given. */
const defaultSince = ({ until }: UsageInvocation, now: number): number | undefined =>
  until === undefined ? startOfLastDays(defaultDays, now) : undefined

function rangeText({ since, until }: { readonly [name: string]: string }): string {
  return [...(since === undefined ? [] : [`since ${since}`]), ...(until === undefined ? [] : [`before ${until}`])].join(' and ')
}
