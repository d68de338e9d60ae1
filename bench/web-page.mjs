// The web chat in a real browser, on loopback: its size, the time until it can be used, and how much moves while text streams.
// Ends with 1 if a goal is missed. Times depend on the machine: an empty page of the same server is measured beside it.
//
//   npm run build && node bench/web-page.mjs [rounds]
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { gate } from '../src/testing/index.ts'
import { openBrowser } from '../test/browser.ts'
import { webScene } from '../test/web/web-scene.ts'

const goals = { kilobytes: 150, usableMs: 300, shift: 0 }
const rounds = Number(process.argv[2] ?? 15)
const folder = join(import.meta.dirname, '../dist/web')
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

// The first view: the page, and what it names. Other parts are loaded when they are shown.
const html = readFileSync(join(folder, 'index.html'), 'utf8')
const files = ['index.html', ...[...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, name]) => name)]
const bytes = files.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name)), { level: 9 }).length, 0)

// Twenty sessions are listed.
const answer = 'A sentence with **strong** words, `code` and a [link](https://example.com). '
const blocks = [
  '# Heading\n\n',
  answer.repeat(4),
  '\n\n- one\n- two\n- three\n\n',
  '| a | b |\n|---|---|\n| 1 | 2 |\n\n',
  '```js\nlet a = 1\n```\n\n',
]
const end = gate()
const scene = await webScene({
  stories: {
    trip: [
      { when: /stream/, steps: [{ text: `${blocks.join('').repeat(12)}Everything is said. `, pauseMs: 2, pieces: [end.promise] }] },
      { steps: [{ text: 'Done.' }] },
    ],
  },
})
for (let index = 0; index < 20; index++) {
  const id = await scene.runtime.sessions.start(`Session ${index}`, { agent: 'trip', principal: { kind: 'local', id: 'local' } })
  await scene.runtime.sessions.outcome(id)
}

/** From navigation to a message box that takes text, and a list of sessions. In the page: nothing is measured over a connection. */
const untilUsable = `
  globalThis.usable = new Promise((resolve) => {
  const look = () => {
    const box = document.querySelector('textarea')
    const isListed = document.querySelector('nav a[href^="#/sessions/"]')
    if (box && !box.disabled && isListed) resolve(performance.now())
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
  })`

const browser = await openBrowser()
const usable = { cold: [], warm: [], empty: [] }
for (let round = 0; round <= rounds; round++) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  await page.addInitScript(untilUsable)
  const times = []
  for (const address of [scene.address, `${scene.url}/#/`]) {
    await page.goto('about:blank')
    await page.goto(address)
    times.push(await page.evaluate('globalThis.usable'))
  }
  const empty = await context.newPage()
  await empty.goto(`${scene.url}/health`)
  const emptyMs = await empty.evaluate('performance.timing.loadEventEnd - performance.timing.navigationStart')
  // The first round starts processes of the browser.
  if (round > 0) {
    usable.cold.push(times[0])
    usable.warm.push(times[1])
    usable.empty.push(emptyMs)
  }
  await context.close()
}

const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
await page.addInitScript(`
  globalThis.shifts = []
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries()) {
      const name = (node) => (node?.nodeType === 3 ? node.data.slice(0, 20) + ' in ' + node.parentElement?.className : node?.className || node?.nodeName) ?? '?'
      shifts.push({ value, of: sources.map(({ node }) => name(node)) })
    }
  }).observe({ type: 'layout-shift', buffered: true })`)
await page.goto(scene.address)
const id = await scene.runtime.sessions.start('Please stream', { agent: 'trip', principal: { kind: 'local', id: 'local' } })
await page.goto(`${scene.url}/#/sessions/${id}`)
await page.getByText('Heading').first().waitFor()
await page.evaluate('shifts.length = 0')
await page.getByText('Everything is said.').waitFor()
const shifts = await page.evaluate('shifts')
end.open()
await scene.runtime.sessions.outcome(id)
const shift = shifts.reduce((sum, { value }) => sum + value, 0)
await browser.close()
await scene.close()

const lines = [
  ['size, gzipped', `${(bytes / 1000).toFixed(1)} kB`, bytes / 1000 <= goals.kilobytes, `at most ${goals.kilobytes} kB`],
  ['usable, first visit', `${median(usable.cold).toFixed(0)} ms`, median(usable.cold) <= goals.usableMs, `at most ${goals.usableMs} ms`],
  ['usable, later visits', `${median(usable.warm).toFixed(0)} ms`, median(usable.warm) <= goals.usableMs, `at most ${goals.usableMs} ms`],
  ['an empty page', `${median(usable.empty).toFixed(0)} ms`, true, 'for comparison'],
  ['layout shift while text streams', shift.toFixed(4), shift <= goals.shift, `${goals.shift}`],
]
for (const [name, value, isMet, goal] of lines)
  process.stdout.write(`${name.padEnd(34)} ${value.padStart(10)}  ${isMet ? '' : 'MISSED: '}${goal}\n`)
for (const { value, of } of shifts.slice(0, 8)) process.stdout.write(`  shift ${value.toFixed(4)}: ${of.join(', ')}\n`)
process.exit(lines.every(([, , isMet]) => isMet) ? 0 : 1)
