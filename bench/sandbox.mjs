// What the sandbox around a command costs, and what a command costs that prints 200 MB. Rounds are interleaved, so that
// whatever else the machine does hits all alike; medians are compared. Ends with 1 where a target is missed.
//
//   npm run build && node bench/sandbox.mjs [rounds]
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { shellTool } from '../src/tools/builtin/shell/shell-tool.ts'
import { processSandbox } from '../src/tools/sandbox/index.ts'

const rounds = Number(process.argv[2] ?? 60)
const targets = { addedMs: 15, memoryMb: 64 }

const clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, fire) => {
    const timer = setTimeout(fire, ms)
    return () => clearTimeout(timer)
  },
}

const base = mkdtempSync(join(tmpdir(), 'troupe-bench-'))
const root = join(base, 'workspace')
const home = join(base, 'home')
for (const folder of [root, home]) mkdirSync(folder)
const path = process.env.PATH ?? '/usr/bin:/bin'
const sandbox = processSandbox({ root, path, home, clock })
const tool = shellTool({ root, path, home, clock, sandbox, isConfined: true })
const context = (confinement) => ({ signal: new AbortController().signal, overlay: {}, confinement, output() {}, progress() {} })
const inside = context({ kind: 'sandbox', name: sandbox.name })
const outside = context({ kind: 'none' })

async function run(command, where) {
  const output = await tool.execute({ command }, where)
  if (!output.ok) throw new Error(`${output.error.message} ${output.error.remedy ?? ''}`)
  return output
}

const bare = () =>
  new Promise((resolve, reject) => {
    const child = spawn('/bin/bash', ['-c', 'true'], { stdio: ['ignore', 'pipe', 'pipe'] })
    child.once('error', reject)
    child.once('close', resolve)
  })

const subjects = {
  'a bare shell': bare,
  'shell without sandbox': () => run('true', outside),
  'shell in the sandbox': () => run('true', inside),
}
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
let missed = false
const judge = (what, value, { most, unit }) => {
  const isMissed = value > most
  missed ||= isMissed
  process.stdout.write(`${what.padEnd(44)} ${value.toFixed(1).padStart(7)} ${unit}  at most ${most}: ${isMissed ? 'MISSED' : 'met'}\n`)
}

const probed = performance.now()
const availability = await sandbox.probe()
if (availability.kind === 'unavailable') throw new Error(availability.failure.message)
process.stdout.write(`${'the probe, once'.padEnd(44)} ${(performance.now() - probed).toFixed(1).padStart(7)} ms\n`)

const times = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]))
for (let round = 0; round <= rounds; round++) {
  for (const [name, subject] of Object.entries(subjects)) {
    const started = performance.now()
    await subject()
    // The first round warms everything up.
    if (round > 0) times[name].push(performance.now() - started)
  }
}
for (const [name, values] of Object.entries(times)) {
  process.stdout.write(`${name.padEnd(44)} ${median(values).toFixed(1).padStart(7)} ms\n`)
}
judge('added by the sandbox', median(times['shell in the sandbox']) - median(times['shell without sandbox']), {
  most: targets.addedMs,
  unit: 'ms',
})

// Memory: the most that this process has ever had, before and after.
const peak = () => process.resourceUsage().maxRSS / 1024
const before = peak()
const started = performance.now()
const { value } = await run('head -c 200000000 /dev/zero | tr "\\0" x', inside)
if (value.truncatedBytes < 198_000_000) throw new Error(`only ${value.truncatedBytes} bytes were left out`)
process.stdout.write(`${'a command that prints 200 MB'.padEnd(44)} ${(performance.now() - started).toFixed(1).padStart(7)} ms\n`)
judge('memory for it', peak() - before, { most: targets.memoryMb, unit: 'MB' })
rmSync(base, { recursive: true, force: true })
process.exit(missed ? 1 : 0)
