// How long it takes to discover, load and start a hundred extensions with tools, a third of them with dependencies and an agent.
// Then what a sandboxed process costs an extension: its start, and each call of a tool. Targets: 1 s, 100 ms, 0.2 ms a call.
// npm run build && npx node bench/kernel.mjs [count]
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { extensionSandbox, findExtensions } from '../src/kernel/index.ts'
import { ExtensionLoader } from '../src/kernel/loader/extension-loader.ts'
import { openInSandbox } from '../src/kernel/process/open-in-sandbox.ts'
import { systemClock } from '../src/runtime/index.ts'

const count = Number(process.argv[2] ?? 100)
const { signal } = new AbortController()
const root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-bench-')))

const source = `
export class Main {
  #context: unknown
  initialize(context: unknown): void {
    this.#context = context
  }
  getTools() {
    return ['get', 'set', 'list'].map((name) => ({
      name,
      description: name,
      inputSchema: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
      execute: () => String(this.#context !== undefined),
    }))
  }
  start(): void {}
  stop(): void {}
}
`

try {
  writeExtensions()
  const before = process.cpuUsage()
  const begin = performance.now()
  const found = await findExtensions({
    places: [{ folder: join(root, 'extensions'), source: 'project' }],
    workspace: root,
    trusted: 'everything',
  })
  const discovered = performance.now()
  const loader = new ExtensionLoader({ found, ports: ports() })
  await loader.load()
  const loaded = performance.now()
  await loader.start()
  const started = performance.now()
  const { user, system } = process.cpuUsage(before)
  const running = loader.list().filter(({ state, tools }) => state === 'running' && tools.length === 3).length
  await loader.stop()
  const sandboxed = await measureSandboxed(found[0])
  console.log(
    JSON.stringify({
      extensions: count,
      running,
      discoveredMs: rounded(discovered - begin),
      loadedMs: rounded(loaded - discovered),
      startedMs: rounded(started - loaded),
      totalMs: rounded(started - begin),
      cpuMs: rounded((user + system) / 1000),
      ...sandboxed,
    }),
  )
} finally {
  rmSync(root, { recursive: true, force: true })
}

/** With the compiled runner, as in the package. */
async function measureSandboxed(found) {
  const runner = join(import.meta.dirname, '../dist/parts/extension-runner.mjs')
  const real = extensionSandbox({ workspace: root, path: process.env.PATH ?? '', home: homedir(), clock: systemClock })
  const failure = await real.unavailable()
  if (failure) return { sandboxed: failure.message }
  const start = (extension, program) =>
    real.start(extension, {
      ...program,
      argv: program.argv.map((each) => (each.endsWith('extension-runner.ts') ? runner : each)),
      readable: [runner],
    })
  const open = openInSandbox({ sandbox: { start }, clock: systemClock, dataDir: (id) => join(root, 'sandboxed', id) })
  const alive = setInterval(() => {}, 1_000)
  const starts = []
  const calls = []
  for (let round = 0; round < 21; round++) {
    const begin = performance.now()
    const { instance, close } = await open(found)
    await instance.initialize({ id: found.id, config: {}, resolvedTools: [], logger: {} })
    // The first round fills the compile cache.
    if (round > 0) starts.push(performance.now() - begin)
    const [tool] = await instance.getTools()
    if (round === 20) for (let n = 0; n < 6_000; n++) calls.push(await timeOf(() => tool.execute({ key: 'a' }, { signal })))
    await close()
  }
  clearInterval(alive)
  return { sandboxStartMs: rounded(median(starts)), sandboxCallMs: Math.round(median(calls.slice(1_000)) * 1_000) / 1_000 }
}

async function timeOf(work) {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
}

function writeExtensions() {
  for (let n = 0; n < count; n++) {
    const folder = join(root, 'extensions', `e${n}`)
    mkdirSync(folder, { recursive: true })
    const needs =
      n % 3 === 2 ? `depends_on: [e${n - 1}]\nagent:\n  model: auto\n  instructions: prompt.md\n  uses_tools: [e${n - 2}]\n` : ''
    writeFileSync(join(folder, 'prompt.md'), 'You are {{ name }}.')
    writeFileSync(
      join(folder, 'manifest.yaml'),
      `id: e${n}\nname: Extension ${n}\nversion: "1.0.0"\ndescription: Number ${n}\nentrypoint: main:Main\n${needs}`,
    )
    writeFileSync(join(folder, 'main.ts'), source)
  }
}

function ports() {
  const nothing = async () => {}
  return {
    clock: systemClock,
    bus: { publish: nothing, subscribe: () => () => {} },
    router: { register: () => () => {}, receive: nothing, notify: nothing },
    supervisor: { requestRestart: nothing, requestShutdown: nothing, loading() {}, ready() {}, enter: (_id, _stage, work) => work() },
    scheduler: { schedulesOf: () => ({}), register: () => () => {} },
    agents: {},
    extensions: {},
    workspace: root,
    dataFolder: join(root, 'data'),
    logger: () => ({}),
    secret: () => undefined,
    storedConfig: () => ({}),
    builtinTools: () => [],
  }
}

function rounded(ms) {
  return Math.round(ms * 10) / 10
}
