// How long `troupe --version`, `troupe --help` and a run take, as multiples of a Node that does nothing. Rounds are interleaved,
// so that whatever else the machine does hits all alike; medians are compared. Ends with 1 where the target is missed.
//
//   npm run build && node bench/start.mjs [rounds]
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { print, row } from './lib/rows.mjs'

const target = 3
const [given = 30] = process.argv.slice(2).filter((each) => !each.startsWith('--'))
const rounds = Number(given)
const troupe = fileURLToPath(new URL('../bin/troupe.mjs', import.meta.url))

// A user of its own, whose state folder keeps the compiled code.
const home = mkdtempSync(join(tmpdir(), 'troupe-start-'))
writeFileSync(join(home, 'hello.ai'), '---\ndescription: Says hello.\nmodels: rehearsal\n---\nSay hello.\n')
const env = { PATH: process.env.PATH, HOME: home }

const subjects = {
  'bare Node': ['--eval', ''],
  'troupe --version': [troupe, '--version'],
  'troupe --help': [troupe, '--help'],
  'troupe help run': [troupe, 'help', 'run'],
  'troupe run (no file: an error)': [troupe, 'run'],
  'troupe run': [troupe, 'run', 'hello.ai', 'Hi'],
}

const times = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]))
for (let round = 0; round <= rounds; round++) {
  for (const [name, args] of Object.entries(subjects)) {
    const started = process.hrtime.bigint()
    const { error } = spawnSync(process.execPath, args, { stdio: 'ignore', cwd: home, env })
    if (error) throw error
    // The first round warms the file cache.
    if (round > 0) times[name].push(Number(process.hrtime.bigint() - started) / 1e6)
  }
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const bare = median(times['bare Node'])
let missed = false
for (const [name, values] of Object.entries(times)) {
  const ratio = median(values) / bare
  const isJudged = name === 'troupe --version' || name === 'troupe --help'
  const isMissed = isJudged && ratio > target
  missed ||= isMissed
  if (values !== times['bare Node']) row(name, median(values), 'ms', { title: 'bare Node', value: bare })
  if (isMissed) print(`MISSED: at most ${target}×`)
}
rmSync(home, { recursive: true, force: true })
process.exit(missed ? 1 : 0)
