import { useState } from 'preact/hooks'
import type { UsageGroup } from '../../contracts/index.ts'
import { plural } from '../../util/plural.ts'
import { startOfLastDays, utcDay } from '../../util/utc-day.ts'
import { price, tokenWords, withEmptyDays } from '../../view/index.ts'
import { usePage } from '../state/page.ts'
import { type Amount, axisEnd } from './usage-amounts.ts'

interface PlotProps {
  readonly groups: readonly UsageGroup[]
  readonly days: number
  readonly amount: Amount
}

/** A column for each day. The day under the pointer is said above it; the table below has all of them. */
export function DayPlot({ groups, days, amount }: PlotProps) {
  const { http } = usePage()
  const [pointed, setPointed] = useState<string>()
  const now = Date.now() + http.ahead()
  const all = withEmptyDays(groups, { first: utcDay(startOfLastDays(days, now)), last: utcDay(now) })
  const end = axisEnd(all.map(amount.of))
  const day = all.find(({ key }) => key === pointed)
  const highest = all.reduce((most, each) => (amount.of(each) > amount.of(most) ? each : most))
  return (
    <figure class="usage-plot" aria-label={`${amount.name} by day`}>
      <figcaption class="line small">
        <strong>{amount.name} by day</strong>
        <span class="muted truncate">
          {day ? dayText(day, amount) : `most on ${dayName(highest.key)}: ${amount.text(amount.of(highest))}`}
        </span>
      </figcaption>
      <div class="usage-columns" aria-hidden="true" onPointerLeave={() => setPointed(undefined)}>
        {[1, 0.5, 0].map((part) => (
          <span key={part} class="usage-line" style={{ bottom: `${part * 100}%` }}>
            <span>{part === 0 ? '' : (amount.round ?? amount.text)(end * part)}</span>
          </span>
        ))}
        <div class="usage-days">
          {all.map((each) => (
            <span
              key={each.key}
              class="usage-day"
              data-pointed={each.key === pointed ? '' : undefined}
              onPointerEnter={() => setPointed(each.key)}
              onPointerDown={() => setPointed(each.key)}
            >
              <span style={{ height: `${(amount.of(each) / end) * 100}%` }} />
            </span>
          ))}
        </div>
      </div>
      <div class="usage-ends line muted small" aria-hidden="true">
        <span class="grow">{dayName(all[0]?.key ?? '')}</span>
        <span>{dayName(all.at(-1)?.key ?? '')}</span>
      </div>
    </figure>
  )
}

function dayText(day: UsageGroup, amount: Amount): string {
  const { key, turns, failedTurns, usage, costUsd } = day
  const failed = failedTurns > 0 ? `, ${failedTurns} failed` : ''
  const facts = [amount.text(amount.of(day)), price(costUsd), tokenWords(usage), `${plural(turns, 'turn')}${failed}`]
  return `${dayName(key)}: ${turns === 0 && usage.input === 0 ? 'nothing' : [...new Set(facts)].filter(Boolean).join(' · ')}`
}

/** In the words of the reader; the day itself is one of UTC. */
const dayName = (key: string): string =>
  new Date(`${key}T00:00:00Z`).toLocaleDateString([], { timeZone: 'UTC', day: 'numeric', month: 'short' })
