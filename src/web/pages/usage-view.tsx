import { useState } from 'preact/hooks'
import '../styles/usage.css'
import type { UsageGroup, UsageGrouping, UsageTotals } from '../../contracts/index.ts'
import { exactLine } from '../../util/exact-text.ts'
import { plural } from '../../util/plural.ts'
import { duration, grouped, price, timeText, tokenWords, unnamedGroups } from '../../view/index.ts'
import type { ServerStatus, UsageDocument } from '../api/documents.ts'
import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import { useUsage } from '../state/usage.ts'
import { Tabs } from '../ui/tabs.tsx'
import { TokenWords } from '../ui/token-words.tsx'
import { PageSection } from './page-frame.tsx'
import { type Amount, type AmountName, amountOf, amounts, firstAmount } from './usage-amounts.ts'
import { DayPlot } from './usage-plot.tsx'

const ranges = [7, 30, 90] as const

/** Figures of ended turns by day, agent, model or person. */
export function UsageView({ by }: { readonly by: UsageGrouping }) {
  const page = usePage()
  const [days, setDays] = useState<number>(30)
  const [chosen, setChosen] = useState<AmountName>()
  const shownBy = by === 'person' && !page.isAdmin.value ? 'day' : by
  const state = useUsage({ by: shownBy, days })
  const tabs = { day: 'Day', agent: 'Agent', model: 'Model', ...(page.isAdmin.value && { person: 'Person' }) } as {
    readonly [By in UsageGrouping]: string
  }
  const report = state.kind === 'ready' ? state.report : undefined
  const { budget } = page.status.value ?? {}
  const amount = chosen ?? (report ? firstAmount(report.total) : 'cost')
  return (
    <div class="usage-page">
      {budget && <Budget budget={budget} />}
      <div class="usage-bar-of line">
        <Tabs label="By" class="usage-tabs" tabs={tabs} selected={shownBy} onSelect={(next) => page.go({ view: 'usage', by: next })} />
        <select
          class="field usage-range"
          aria-label="Time"
          value={days}
          onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}
        >
          {ranges.map((each) => (
            <option key={each} value={each}>
              Last {each} days
            </option>
          ))}
        </select>
      </div>
      {state.kind === 'loading' && <p class="muted">Loading…</p>}
      {state.kind === 'failed' && (
        <p class="tone-error" role="alert">
          {state.message} {state.remedy}
        </p>
      )}
      {report &&
        (report.groups.length === 0 ? (
          <Nothing days={days} onMore={() => setDays(90)} />
        ) : (
          <Report {...{ report, days, amount }} onAmount={setChosen} />
        ))}
      {report && <Notes report={report} />}
      {!budget && <NoBudget />}
    </div>
  )
}

function Nothing({ days, onMore }: { readonly days: number; onMore(): void }) {
  const { mayRun } = usePage()
  return (
    <div class="usage-none callout">
      <p>
        <strong>No turn has ended in the last {days} days.</strong>
      </p>
      <p class="muted">Each turn is counted here when it ends: its cost, its tokens, whether it failed, and how long it worked.</p>
      <p class="chips">
        {mayRun.value && (
          <a class="button button-primary" href={hashOf({ view: 'new' })}>
            Start a session
          </a>
        )}
        {days < 90 && (
          <button type="button" class="button" onClick={onMore}>
            Show the last 90 days
          </button>
        )}
      </p>
    </div>
  )
}

interface ReportProps {
  readonly report: UsageDocument
  readonly days: number
  readonly amount: AmountName
  onAmount(amount: AmountName): void
}

function Report({ report, days, amount: name, onAmount }: ReportProps) {
  const { by, groups, total } = report
  const amount = amountOf(name, by)
  return (
    <>
      <fieldset class="usage-totals" aria-label="Plot">
        {(Object.keys(amounts) as AmountName[]).map((each) => (
          <Total key={each} name={each} by={by} total={total} isShown={each === name} onClick={() => onAmount(each)} />
        ))}
      </fieldset>
      {by === 'day' && <DayPlot groups={groups} days={days} amount={amount} />}
      <UsageTable by={by} groups={by === 'day' ? groups.toReversed() : sorted(groups, amount)} total={total} amount={amount} />
    </>
  )
}

const sorted = (groups: readonly UsageGroup[], amount: Amount): readonly UsageGroup[] =>
  groups.toSorted((a, b) => amount.of(b) - amount.of(a))

interface TotalProps {
  readonly name: AmountName
  readonly by: UsageGrouping
  readonly total: UsageTotals
  readonly isShown: boolean
  onClick(): void
}

/** A figure of the whole time; it is also the button that plots it. */
function Total({ name, by, total, isShown, onClick }: TotalProps) {
  const { value, note } = totalTexts(name, by, total)
  return (
    <button type="button" class="usage-total" aria-pressed={isShown} onClick={onClick}>
      <span class="muted small">{amounts[name].name}</span>
      <strong>{value}</strong>
      <span class="muted small">{note}</span>
    </button>
  )
}

function totalTexts(name: AmountName, by: UsageGrouping, total: UsageTotals): { readonly value: string; readonly note: string } {
  const { unpriced, usage, turns, failedTurns, requests, failedRequests, p95Ms, workMs } = total
  switch (name) {
    case 'cost':
      return { value: costText(total), note: unpriced > 0 ? `${plural(unpriced, 'request')} without a price` : plural(turns, 'turn') }
    case 'tokens':
      return {
        value: tokenWords(usage),
        note: usage.input === 0 ? '' : `${Math.round((100 * usage.cacheRead) / usage.input)} % of the input from cache`,
      }
    case 'failures':
      return by === 'model'
        ? { value: grouped(failedRequests), note: `of ${plural(requests, 'request')}` }
        : { value: grouped(failedTurns), note: `of ${plural(turns, 'turn')}` }
    case 'p95':
      return { value: turns > 0 ? duration(p95Ms) : '–', note: `of a turn · ${duration(workMs)} of work in all` }
  }
}

const costText = ({ costUsd, unpriced }: UsageTotals): string => price(costUsd) || (unpriced > 0 ? 'unknown' : '$0')

interface TableProps {
  readonly by: UsageGrouping
  readonly groups: readonly UsageGroup[]
  readonly total: UsageTotals
  /** Bars below the names compare it. */
  readonly amount: Amount
}

const heads: { readonly [By in UsageGrouping]: string } = { day: 'Day (UTC)', agent: 'Agent', model: 'Model', person: 'Person' }

function UsageTable({ by, groups, total, amount }: TableProps) {
  const most = Math.max(...groups.map(amount.of))
  const isByModel = by === 'model'
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls by keyboard
    <section class="usage-table" aria-label={`Usage by ${by}`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {[heads[by], 'Cost', 'Tokens', isByModel ? 'Requests' : 'Turns', 'p95'].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <Row key={group.key} name={group.key} by={by} totals={group} share={most > 0 ? amount.of(group) / most : 0} />
          ))}
        </tbody>
        <tfoot>
          <Row name="All" by={by} totals={total} />
        </tfoot>
      </table>
    </section>
  )
}

interface RowProps {
  readonly name: string
  readonly by: UsageGrouping
  readonly totals: UsageTotals
  /** Of the largest; absent in the last row. */
  readonly share?: number
}

function Row({ name, by, totals, share }: RowProps) {
  const { usage, turns, failedTurns, requests, failedRequests, p95Ms } = totals
  const [count, failed] = by === 'model' ? [requests, failedRequests] : [turns, failedTurns]
  return (
    <tr>
      <th scope="row">
        <Name name={name} by={share === undefined ? 'day' : by} />
        {share !== undefined && <span class="usage-share" style={{ width: `${share * 100}%` }} aria-hidden="true" />}
      </th>
      <td>{costText(totals)}</td>
      <td>
        <TokenWords usage={usage} />
      </td>
      <td>
        {grouped(count)}
        {failed > 0 && <div class="tone-error">{grouped(failed)} failed</div>}
      </td>
      <td>{turns > 0 ? duration(p95Ms) : '–'}</td>
    </tr>
  )
}

function Name({ name, by }: { readonly name: string; readonly by: UsageGrouping }) {
  const page = usePage()
  const text = exactLine(name.slice(0, 200)) || unnamedGroups[by]
  const isKnown = by === 'agent' && page.agents.value.some((each) => each.name === name)
  return isKnown ? <a href={hashOf({ view: 'agents', agent: name })}>{text}</a> : <span>{text}</span>
}

/** What the figures do not cover. */
function Notes({ report: { total, unindexed = 0, by } }: { readonly report: UsageDocument }) {
  const page = usePage()
  const { unpriced } = total
  const notes = [
    unpriced > 0 &&
      `${unpriced === 1 ? '1 request without a price is' : `${grouped(unpriced)} requests without a price are`} not in the cost.`,
    unindexed > 0 &&
      `${unindexed === 1 ? '1 session of an older version is' : `${grouped(unindexed)} sessions of an older version are`} not counted. To include them: troupe store reindex`,
    by === 'model' && total.turns > 0 && 'p95 by model: of the requests of a turn.',
    by === 'agent' && 'Turns of agents that other agents call are counted, too.',
    !page.isAdmin.value && 'These are your own sessions. With the scope “admin”, you see those of everybody.',
  ].filter((note) => note !== false)
  return notes.length === 0 ? null : (
    <ul class="usage-notes muted small plain-list">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  )
}

/** What is left today. */
const Budget = ({ budget: { tokensPerDay, costUsdPerDay, used, renewsAt } }: { readonly budget: NonNullable<ServerStatus['budget']> }) => (
  <PageSection title="Your budget of today" level={2}>
    <div class="usage-budgets">
      {tokensPerDay !== undefined && <Left name="Tokens" limit={tokensPerDay} used={used.tokens} text={grouped} />}
      {costUsdPerDay !== undefined && <Left name="Cost" limit={costUsdPerDay} used={used.costUsd} text={(usd) => `$${usd.toFixed(2)}`} />}
      <p class="muted small">Renewed at {timeText(Date.parse(renewsAt))}.</p>
    </div>
  </PageSection>
)

function NoBudget() {
  const page = usePage()
  return page.status.value ? (
    <PageSection title="Budget" level={2}>
      <p class="muted">
        You have no daily budget. A token gets one when it is created:{' '}
        <code>troupe token create --name ci --budget 5usd/day,100000tokens/day</code>
      </p>
    </PageSection>
  ) : null
}

interface LeftProps {
  readonly name: string
  readonly limit: number
  readonly used: number
  text(amount: number): string
}

/** Nearly used up is a warning. */
const lowShare = 0.8

function Left({ name, limit, used, text }: LeftProps) {
  const share = limit === 0 ? 1 : Math.min(1, used / limit)
  const tone = share >= 1 ? 'error' : share >= lowShare ? 'warning' : 'ok'
  return (
    <div class="usage-left">
      <p class="line">
        <span class="grow">{name}</span>
        <strong class={share >= 1 ? 'tone-error' : undefined}>{share >= 1 ? 'Used up' : `${text(limit - used)} left`}</strong>
      </p>
      <meter class="visually-hidden" aria-label={`${name} used today`} min={0} max={Math.max(limit, used, 1)} value={used} />
      <div class="usage-meter" data-tone={tone} aria-hidden="true">
        <span style={{ width: `${share * 100}%` }} />
      </div>
      <p class="muted small">
        {text(used)} of {text(limit)} used
      </p>
    </div>
  )
}
