// The timeline of the web chat in a real browser: 5,000 operations, scrolled through, and 100 events a second while a run goes on.
// Other work on the machine delays frames, too. So it prints the longest frames beside those of an empty page in the same run, and
// the processor time of the longest task of the page, which other work does not change.
// Usage: npm run build && node bench/web-timeline.mjs
import { openBrowser } from '../test/browser.ts'
import { webScene } from '../test/web/web-scene.ts'

const steps = 200
const callsOfStep = 24
const liveMs = 10_000
const limitMs = 50

const agent = {
  name: 'busy',
  description: 'Makes many calls.',
  usage: 'anything',
  prompt: 'You are busy.',
  model: 'test/story',
  tools: ['*'],
  limits: { maxToolTurns: 5_000, parallelToolCalls: 8, maxCalls: 1_000_000 },
}
const tool = {
  name: 'note',
  description: 'Notes a number.',
  inputSchema: { type: 'object', properties: { n: { type: 'integer' } } },
  effect: 'read',
  concurrency: 'shared',
  execute: ({ n }) => (n % 50 === 7 ? { ok: false, error: { class: 'network', message: 'No answer.' } } : `noted ${n}`),
}
let last = 0
const calls = (count) => Array.from({ length: count }, () => ({ tool: 'note', input: { n: ++last } }))
const many = Array.from({ length: steps }, (_, i) => ({ text: `Part ${i + 1}`, calls: calls(callsOfStep) }))
// A call has two events, and so has the request before it; words are live events.
const live = Array.from({ length: 400 }, () => ({ text: 'one two three four five six seven eight', pauseMs: 4, calls: calls(3) }))
const stories = { busy: [{ when: /live/, steps: [...live, { text: 'Done.' }] }, { steps: [...many, { text: 'Done.' }] }] }

const scene = await webScene({ agents: [agent], tools: [tool], stories })
const browser = await openBrowser()
try {
  const id = await scene.runtime.sessions.start('Go.', { agent: 'busy', principal: { kind: 'local', id: 'local' } })
  const readSession = async () => (await (await scene.fetch(`/v1/sessions/${id}`)).json()).session
  while ((await readSession()).status === 'running') await pause(200)

  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.goto('about:blank')
  const empty = await measure(page, { ms: liveMs / 2 })
  await page.goto(scene.address)
  await page.goto(`${scene.url}/#/sessions/${id}`)
  await page.getByRole('treeitem').first().waitFor()
  const count = () => page.locator('#operations').evaluate((tree) => Math.round(tree.offsetHeight / tree.firstElementChild.offsetHeight))
  await page.waitForFunction(() => (document.getElementById('operations')?.offsetHeight ?? 0) > 100_000)
  await pause(1_000)
  const rows = await count()
  const rendered = await page.getByRole('treeitem').count()

  const scrolled = await measure(page, { scrolls: true })
  const before = (await readSession()).seq
  await scene.fetch(`/v1/sessions/${id}/messages`, { json: { input: 'live', clientId: 'live' } })
  await pause(500)
  const [events, started] = [countEvents(scene, id), performance.now()]
  const ran = await measure(page, { ms: liveMs })
  const rate = ((await events.stop()) / (performance.now() - started)) * 1_000
  await scene.fetch(`/v1/sessions/${id}/interrupt`, { json: {} })

  console.log(`${rows} rows of ${before} events, of which ${rendered} are in the document`)
  report('empty page', empty)
  report('scrolls through all rows', scrolled, empty)
  report(`runs, ${Math.round(rate)} events/s, ${(await count()) - rows} new rows`, ran, empty)
} finally {
  await browser.close()
  await scene.close()
}
process.exit(0)

function report(name, { deltas, taskMs }, base) {
  const sorted = deltas.toSorted((a, b) => a - b)
  const [median, p99, most] = [sorted[Math.floor(sorted.length / 2)], sorted[Math.floor(sorted.length * 0.99)], sorted.at(-1)]
  const ratio = base ? ` (${(most / Math.max(...base.deltas)).toFixed(1)} × empty page)` : ''
  const over = deltas.filter((delta) => delta > limitMs).length
  console.log(`${name}: ${deltas.length} frames`)
  console.log(`  between frames: median ${ms(median)}, p99 ${ms(p99)}, longest ${ms(most)}${ratio}, ${over} over ${limitMs} ms`)
  console.log(
    `  processor time of a task: longest ${ms(Math.max(...taskMs))}, ${taskMs.filter((each) => each > limitMs).length} over ${limitMs} ms`,
  )
}

function ms(value) {
  return `${value.toFixed(1)} ms`
}

/** Frames and tasks of the page during some time, or while it scrolls through all rows. */
async function measure(page, task) {
  await browser.startTracing(page, { categories: ['toplevel', '__metadata'] })
  const deltas = await page.evaluate(watchFrames, task)
  const { traceEvents } = JSON.parse(await browser.stopTracing())
  const threads = traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
  const isMain = ({ pid, tid }) => threads.some((thread) => thread.pid === pid && thread.tid === tid)
  const tasks = traceEvents.filter((event) => event.name === 'ThreadControllerImpl::RunTask' && event.tdur > 0 && isMain(event))
  return { deltas, taskMs: tasks.map(({ tdur }) => tdur / 1_000) }
}

/** Runs in the page. */
async function watchFrames({ ms = 0, scrolls = false }) {
  const deltas = []
  const frame = () => new Promise(requestAnimationFrame)
  let last = await frame()
  const next = async () => {
    const now = await frame()
    deltas.push(now - last)
    last = now
  }
  const end = performance.now() + ms
  while (performance.now() < end) await next()
  const scroller = document.querySelector('.timeline-scroll')
  for (let top = 0; scrolls && top < scroller.scrollHeight; top += 400) {
    scroller.scrollTop = top
    await next()
  }
  return deltas
}

/** Events of the session as a reader gets them, live ones included. */
function countEvents(scene, id) {
  const stop = new AbortController()
  const counted = (async () => {
    let count = 0
    const { seq } = (await (await scene.fetch(`/v1/sessions/${id}`)).json()).session
    const response = await scene.fetch(`/v1/watch?session=${id}&after=${seq}`, { signal: stop.signal })
    try {
      for await (const piece of response.body.pipeThrough(new TextDecoderStream())) count += piece.split('\nevent: interaction').length - 1
    } catch {
      // Stopped.
    }
    return count
  })()
  return {
    stop() {
      stop.abort()
      return counted
    },
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
