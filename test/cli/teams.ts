import { Readable, Writable } from 'node:stream'
import { Output } from '../../src/cli/terminal/output.ts'
import { plainPaint } from '../../src/cli/terminal/paint.ts'
import type { Host } from '../../src/cli/terminal/process-host.ts'
import type { RuntimeOptions } from '../../src/runtime/index.ts'
import { ask, resultsOf, type Script, type Team, team } from '../subagents/team.ts'

/** Hands out a task to each, all at once, then tells what came back. */
export const boss =
  (...names: readonly string[]): Script =>
  (request, step) =>
    step === 1
      ? { calls: names.map((name) => ask(name, `Do ${name}`)), usage: { input: 100, output: 20 } }
      : { text: `All: ${resultsOf(request).join(' | ')}`, usage: { input: 200, output: 10 } }

const found: Script = () => ({ text: 'found', usage: { input: 10, output: 2 } })

/** Three levels: a lead and a writer side by side; below the lead two scouts, and in line behind them one that fails. */
export function threeLevels(scout: Script = found, options: Partial<Pick<RuntimeOptions, 'clock'>> = {}): Team {
  return team(
    {
      boss: { script: boss('lead', 'scribe'), agents: ['lead', 'writer'] },
      lead: { script: boss('scout', 'scout', 'broken'), agents: ['scout', 'broken'], limits: { parallelChildren: 2 } },
      writer: { script: () => ({ text: 'written', usage: { input: 30, output: 5 } }), toolName: 'scribe' },
      scout: { script: scout },
      broken: { script: () => ({ fails: 'config' }), limits: { maxRetries: 0 } },
    },
    options,
  )
}

/** A host without a process, and what was written to it. */
export function quietHost(): { readonly host: Host; readonly stdout: () => string; readonly stderr: () => string } {
  const kept = { stdout: '', stderr: '' }
  const output = (name: keyof typeof kept): Output =>
    new Output(
      new Writable({
        write(chunk, _encoding, done) {
          kept[name] += chunk
          done()
        },
      }),
    )
  const host: Host = {
    cwd: process.cwd(),
    env: {},
    stdin: Readable.from([]),
    stdout: output('stdout'),
    stderr: output('stderr'),
    window: 'plain',
    paint: plainPaint,
    width: 100,
    now: () => 0,
    onInterrupt: () => () => {},
    exit: (code) => {
      throw new Error(`exit ${code}`)
    },
  }
  return { host, stdout: () => kept.stdout, stderr: () => kept.stderr }
}
