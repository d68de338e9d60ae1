import { expect, it } from 'vitest'
import { PriceMonitorAgent } from '../../../extensions/price_monitor/main.ts'
import type { AgentResult, InvokeCall, Json, JsonObject } from '../../../src/contracts/index.ts'
import { extensionContext } from '../extension-context.ts'

const sources = [
  { name: 'Coffee', url: 'https://shop.example/coffee' },
  { name: 'Tea', url: 'https://shop.example/tea' },
]
const defaults = { sources, cron: '0 */4 * * *', time_zone: '', threshold_percent: 10 }

function openMonitor(config: JsonObject, answer?: AgentResult) {
  const { context, recorded } = extensionContext({ config, ...(answer && { startAgent: () => answer }) })
  const monitor = new PriceMonitorAgent()
  monitor.initialize(context)
  return { monitor, started: recorded.started }
}

const completed = (value: Json): AgentResult => ({ status: 'completed', content: JSON.stringify(value), value })

it('reports anomalies of a scheduled run to the person', async () => {
  const { monitor, started } = openMonitor(defaults, completed({ anomalies: [{ source: 'Tea', message: 'from 4.00 to 9.00 EUR' }] }))
  expect(await monitor.execute()).toEqual({ text: 'Unusual prices:\n- Tea: from 4.00 to 9.00 EUR' })
  expect(started).toMatchObject([{ options: { output: { required: ['anomalies'] } } }])
  expect(started[0]?.task).toContain('10 percent')
  expect(started[0]?.task).toContain('Sources:\n- Coffee: https://shop.example/coffee\n- Tea: https://shop.example/tea')
})

it('says nothing without anomalies, and starts no agent without sources', async () => {
  expect(await openMonitor(defaults, completed({ anomalies: [] })).monitor.execute()).toBeUndefined()
  const { monitor, started } = openMonitor({ ...defaults, sources: [] })
  expect(await monitor.execute()).toBeUndefined()
  expect(started).toEqual([])
  expect(monitor.healthCheck()).toMatchObject({ healthy: false, message: expect.stringContaining('troupe extensions setup price_monitor') })
})

it('fails a scheduled run that did not complete', async () => {
  const error = { class: 'budget', message: 'The limit of 20 steps is reached.' }
  const { monitor } = openMonitor(defaults, { status: 'partial', content: 'so far', error })
  await expect(monitor.execute()).rejects.toThrow('The prices could not be checked: The limit of 20 steps is reached.')
})

it('answers questions with the configured sources', async () => {
  const { monitor, started } = openMonitor(defaults, { status: 'completed', content: 'Coffee costs 5 EUR.' })
  const { signal } = new AbortController()
  const call: InvokeCall = { signal, person: undefined, correlationId: 'c', progress: () => undefined }
  expect(await monitor.invoke('What does coffee cost?', undefined, call)).toEqual({ status: 'completed', content: 'Coffee costs 5 EUR.' })
  expect(started).toEqual([{ task: expect.stringMatching(/^What does coffee cost\?\n\nSources:\n- Coffee/), options: { signal } }])
})

it('takes its schedule from the configuration', () => {
  expect(openMonitor(defaults).monitor.getSchedule()).toEqual({ cron: '0 */4 * * *' })
  expect(openMonitor({ ...defaults, time_zone: 'Asia/Tokyo' }).monitor.getSchedule()).toEqual({
    cron: '0 */4 * * *',
    timeZone: 'Asia/Tokyo',
  })
})

it.each<[JsonObject, string]>([
  [{ cron: 5 }, '`config.cron` must be a text'],
  [{ sources: 5 }, '`config.sources` must be a list'],
  [{ sources: [sources[0] ?? {}, { name: 'Bad', url: 'file:///etc/passwd' }] }, '`config.sources[1]` must have a `name`'],
  [{ sources: ['https://a.example'] }, '`config.sources[0]` must have'],
  [{ threshold_percent: 0 }, 'a number above 0'],
  [{ time_zone: 1 }, '`config.time_zone` must be a text'],
])('refuses %o', (wrong, message) => {
  expect(() => openMonitor({ ...defaults, ...wrong })).toThrow(message)
})

it('can be set up in words', async () => {
  const words = { sources: ' Coffee=https://shop.example/?id=1&x=2\n Tea=https://shop.example/tea' }
  const { monitor, started } = openMonitor(words, completed({ anomalies: [] }))
  expect(monitor.getSetupSchema().map(({ name }) => name)).toEqual(['sources', 'cron', 'time_zone', 'threshold_percent'])
  expect(monitor.applyConfig(words)).toBeUndefined()
  expect(() => monitor.applyConfig({ sources: 'https://shop.example/tea' })).toThrow('`config.sources[0]` must have a `name`')
  await monitor.execute()
  expect(started[0]?.task).toContain('- Coffee: https://shop.example/?id=1&x=2\n- Tea: https://shop.example/tea')
})
