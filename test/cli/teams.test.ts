import { describe, expect, test } from 'vitest'
import { followRun } from '../../src/cli/commands/run/follow-run.ts'
import { reportRun } from '../../src/cli/commands/run/report-run.ts'
import type { Progress } from '../../src/cli/progress/display.ts'
import { PlainProgress } from '../../src/cli/progress/plain-progress.ts'
import { renderSummary } from '../../src/cli/progress/tree/render-summary.ts'
import { renderTree, renderTurn } from '../../src/cli/progress/tree/render-tree.ts'
import type { OutputForm } from '../../src/cli/terminal/display-options.ts'
import { Interruption } from '../../src/cli/terminal/interruption.ts'
import { plainPaint } from '../../src/cli/terminal/paint.ts'
import type { StreamEvent } from '../../src/contracts/index.ts'
import type { RunHandle } from '../../src/runtime/index.ts'
import { FakeClock, gate } from '../../src/testing/index.ts'
import { runTree } from '../../src/view/fold-events.ts'
import { runSummary } from '../../src/view/run-summary.ts'
import { Window } from '../fixtures/terminal-window.ts'
import { type Said, team } from '../subagents/team.ts'
import { documentIn, linesIn } from './published.ts'
import { quietHost, threeLevels } from './teams.ts'

/** A team on a clock of its own, whose scouts come back when a test says so. */
function held() {
  const clock = new FakeClock(0)
  const scouts = [0, 1].map(() => ({ begins: gate(), returns: gate() }))
  let begun = 0
  const { runtime } = threeLevels(
    async () => {
      const scout = scouts[begun++]
      scout?.begins.open()
      await scout?.returns.promise
      return { text: 'found', usage: { input: 10, output: 2 } }
    },
    { clock },
  )
  return { clock, scouts, runtime }
}

/** A run, and when an event of it has been shown. */
function tapped(handle: RunHandle, isIt: (event: StreamEvent) => boolean): { readonly handle: RunHandle; readonly seen: Promise<void> } {
  const { promise, open } = gate()
  const tap: Pick<RunHandle, 'outcome' | 'interrupt' | typeof Symbol.asyncIterator> = {
    get outcome() {
      return handle.outcome
    },
    interrupt: () => handle.interrupt(),
    async *[Symbol.asyncIterator]() {
      for await (const event of handle) {
        yield event
        if (isIt(event)) open()
      }
    },
  }
  return { handle: tap as RunHandle, seen: promise }
}

describe('while a team is at work', () => {
  test('each child is below its call, at every level; children without a slot are shown as queued', async () => {
    const { clock, scouts, runtime } = held()
    const window = new Window({ width: 90, height: 60 })
    const { host } = quietHost()
    const inLine = tapped(runtime.stream('Go'), ({ type }) => type === 'interaction.subagent.failed')
    const followed = followRun(inLine.handle, {
      host,
      progress: 'live',
      terminal: window,
      clock,
      interruption: new Interruption(host),
      release: async () => {},
    })
    await Promise.all(scouts.map(({ begins }) => begins.promise))
    await clock.elapse(400)
    expect((await window.rows()).join('\n')).toMatchInlineSnapshot(`
      "⠴ boss  step 1 of 10 · 2 calls                                       ~314 → 45      0.4 s
      └─ step 1  boss                                                       100 → 20       0 ms
         ├─ ⠴ lead    Do lead · step 1 of 10 · 3 calls · “because”         ~184 → 20      0.4 s
         │  └─ step 1  lead                                                 100 → 20       0 ms
         │     ├─ ⠴ scout   Do scout · step 1 of 10 · “because”              ~42 → 0 ∥    0.4 s
         │     │  └─ ⠴ step 1  scout                                         ~42 → 0      0.4 s
         │     ├─ ⠴ scout   Do scout · step 1 of 10 · “because”              ~42 → 0 ∥    0.4 s
         │     │  └─ ⠴ step 1  scout                                         ~42 → 0      0.4 s
         │     └─ ◌ broken  Do broken · waiting · “because”
         └─ ✓ scribe  Do scribe · 1 step · “because”                          30 → 5       0 ms
            └─ step 1  writer                                                 30 → 5       0 ms"
    `)
    scouts[0]?.returns.open()
    await inLine.seen
    await clock.elapse(400)
    expect((await window.rows()).join('\n')).toMatchInlineSnapshot(`
      "⠋ boss  step 1 of 10 · 2 calls                                       ~282 → 47      0.8 s
      └─ step 1  boss                                                       100 → 20       0 ms
         ├─ ⠋ lead    Do lead · 1 failed inside · step 1 of 10             ~152 → 22      0.8 s
         │  └─ step 1  lead                                                 100 → 20       0 ms
         │     ├─ ✓ scout   Do scout · 1 step · “because”                     10 → 2 ∥   400 ms
         │     │  └─ step 1  scout                                            10 → 2     400 ms
         │     ├─ ⠋ scout   Do scout · step 1 of 10 · “because”              ~42 → 0 ∥    0.8 s
         │     │  └─ ⠋ step 1  scout                                         ~42 → 0      0.8 s
         │     └─ ✗ broken  Do broken · failed: the model failed · 1 …         0 → 0 ∥     0 ms
         │        │  config: broken failed: scripted config
         │        │  → Check the name and the settings of the model.
         │        └─ step 1  broken
         │           └─ ✗ config  scripted config                                          0 ms
         └─ ✓ scribe  Do scribe · 1 step · “because”                          30 → 5       0 ms
            └─ step 1  writer                                                 30 → 5       0 ms"
    `)
    scouts[1]?.returns.open()
    expect(await followed).toMatchObject({ outcome: { status: 'completed' } })
    expect([await window.rows(), window.isCursorHidden, clock.pending]).toEqual([[], false, 0])
  })
})

/** What a team leaves on standard error and standard output. Time stands still. */
async function told(progress: Progress, output: OutputForm = 'answer') {
  const clock = new FakeClock(Date.UTC(2026, 0, 1))
  const { host, stdout, stderr } = quietHost()
  const display = { detail: 'normal', logFormat: 'text', color: 'auto' } as const
  const followed = await followRun(threeLevels(undefined, { clock }).runtime.stream('Go'), {
    host,
    progress,
    output,
    clock,
    interruption: new Interruption(host),
    release: async () => {},
  })
  const code = await reportRun(followed, { host, display, output, progress })
  return { code, stdout: stdout(), stderr: stderr() }
}

describe('when a team is done', () => {
  test('lines of a child begin with its name as a tool; tree and summary nest', async () => {
    const { code, stdout, stderr } = await told('plain')
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^All: All: found \| found \|/)])
    const [lines = '', ...views] = stderr.split('\n\n')
    expect(lines.split('\n').filter((line) => !line.startsWith(' '))).toEqual(
      expect.arrayContaining([
        'step 1 boss',
        'child:lead │ step 1 lead',
        'child:scribe │ step 1 writer',
        'child:lead/scout#2 │ step 1 scout',
      ]),
    )
    expect(lines).toContain('child:lead │   ✗ broken config: broken failed: scripted config 0 ms')
    expect(views.join('\n\n')).toMatchInlineSnapshot(`
      "boss  completed · 2 steps · 2 calls                       650 → 69       0 ms  ▏─                 ▕
      ├─ step 1  boss                                           100 → 20       0 ms  ▏▒                 ▕
      │  ├─ ✓ lead    Do lead · 1 failed inside                 320 → 34       0 ms  ▏━                 ▕
      │  │  ├─ step 1  lead                                     100 → 20       0 ms  ▏▒                 ▕
      │  │  │  ├─ ✓ scout   Do scout · 1 step · “because”         10 → 2       0 ms  ▏━                 ▕
      │  │  │  │  └─ step 1  scout                                10 → 2       0 ms  ▏▒                 ▕
      │  │  │  ├─ ✓ scout   Do scout · 1 step · “because”         10 → 2       0 ms  ▏━                 ▕
      │  │  │  │  └─ step 1  scout                                10 → 2       0 ms  ▏▒                 ▕
      │  │  │  └─ ✗ broken  Do broken · failed: the model…         0 → 0       0 ms  ▏━                 ▕
      │  │  │     │  config: broken failed: scripted config
      │  │  │     │  → Check the name and the settings of the model.
      │  │  │     └─ step 1  broken
      │  │  │        └─ ✗ config  scripted config                              0 ms  ▏█                 ▕
      │  │  └─ step 2                                           200 → 10       0 ms  ▏▒                 ▕
      │  └─ ✓ scribe  Do scribe · 1 step · “because”              30 → 5       0 ms  ▏━                 ▕
      │     └─ step 1  writer                                     30 → 5       0 ms  ▏▒                 ▕
      └─ step 2                                                 200 → 10       0 ms  ▏▒                 ▕

                                          calls  time    tokens         bytes
      agent boss                              1  0 ms  650 → 69
      ├─ model team/boss                      2  0 ms  300 → 30
      ├─ agent scribe                         1  0 ms    30 → 5    41 B → 7 B
      │  └─ model team/writer                 1  0 ms    30 → 5
      └─ agent lead                           1  0 ms  320 → 34  39 B → 113 B
         ├─ model team/lead                   2  0 ms  300 → 30
         ├─ agent scout                       2  0 ms    20 → 4   80 B → 10 B
         │  └─ model team/scout               2  0 ms    20 → 4
         └─ agent broken          1 of 1 failed  0 ms     0 → 0   41 B → 92 B
            └─ model team/broken  1 of 1 failed  0 ms     0 → 0

      "
    `)
  })

  test('verbose names the run of each child', async () => {
    const { stderr } = await told('verbose')
    expect(stderr).toMatch(/^child:lead │ run \S+\/t1\.s1\.1$/m)
    expect(stderr).toMatch(/^child:lead\/scout#2 │ run \S+\/t1\.s1\.1\/t1\.s1\.2$/m)
  })

  test('a log has the child, the run and the summary', async () => {
    const lines = (await told('json')).stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.find(({ source }) => source === 'child:lead/scout#2')).toMatchObject({
      treeId: lines[0].treeId,
      agentPath: 'root/lead#1/scout#2',
    })
    expect(lines[0]).not.toHaveProperty('source')
    expect(lines.at(-1)).toMatchObject({ msg: 'summary', summary: { agent: 'boss', agents: [{ agent: 'writer' }, { agent: 'lead' }] } })
  })

  test('documents have the summary, as published', async () => {
    const summary = { agent: 'boss', usage: { input: 650, output: 69 }, agents: [{ agent: 'writer' }, { agent: 'lead', calls: 1 }] }
    expect(documentIn((await told('none', 'json')).stdout)).toMatchObject({ ok: true, summary })
    expect(linesIn((await told('none', 'stream-json')).stdout).at(-1)).toMatchObject({ type: 'run.completed', summary })
  })
})

describe('the summary', () => {
  test('adds up to what the run took', async () => {
    const { outcome } = await threeLevels().run()
    const { usage, cost, agents } = runSummary(outcome)!
    expect({ usage, cost }).toEqual({ usage: outcome.usage, cost: outcome.cost })
    const lead = agents.find(({ agent }) => agent === 'lead')
    expect(lead).toMatchObject({
      calls: 1,
      models: [{ model: 'team/lead', calls: 2, failed: 0, usage: { input: 300, output: 30 } }],
      agents: [
        { agent: 'scout', calls: 2, failed: 0, usage: { input: 20, output: 4 }, bytesIn: 80 },
        { agent: 'broken', calls: 1, failed: 1, models: [{ calls: 1, failed: 1 }] },
      ],
    })
  })

  test('drops figures before names, and no line is as wide as the window', async () => {
    const summary = runSummary((await threeLevels().run()).outcome)!
    for (let width = 1; width < 120; width++) {
      const lines = renderSummary(summary, { paint: (_, text) => text, width })
      for (const line of lines) expect(line.length).toBeLessThan(Math.max(2, width))
      if (width >= 40) expect(lines.join('\n')).toContain('agent broken')
    }
  })

  test('is absent if no agent was called', async () => {
    const { host, stderr } = quietHost()
    const { runtime } = threeLevels()
    const followed = await followRun(runtime.stream('Go', { agent: 'writer' }), {
      host,
      progress: 'plain',
      interruption: new Interruption(host),
      release: async () => {},
    })
    await reportRun(followed, {
      host,
      display: { detail: 'normal', logFormat: 'text', color: 'auto' },
      output: 'answer',
      progress: 'plain',
    })
    expect(stderr()).toContain('scribe  completed')
    expect(stderr()).not.toMatch(/agent (?:writer|scribe)/)
  })
})

describe('a child with a second turn', () => {
  const wait = { calls: [{ tool: 'wait_for_agent', input: { ids: ['scout#1'] } }] }
  const steps: readonly Said[] = [
    { calls: [{ tool: 'spawn_agent', input: { agent: 'scout', prompt: 'Look' } }] },
    wait,
    { calls: [{ tool: 'send_agent_input', input: { id: 'scout#1', text: 'Look again' } }] },
    wait,
  ]
  const spawning = () =>
    team(
      {
        boss: { script: (_, step) => steps[step - 1] ?? { text: 'Done.' }, agents: ['scout'], childControl: true },
        scout: { script: (_, step) => ({ text: `found ${step}` }) },
      },
      { clock: new FakeClock(0) },
    ).run()

  test('names the turn with each of its further steps, while it runs and later', async () => {
    const { events, all } = await spawning()
    const ofScout = (lines: readonly string[]) => lines.filter((line) => /scout|turn/.test(line)).map((line) => line.trim())
    expect(ofScout(renderTree(events, { paint: plainPaint, width: 80 }))).toMatchInlineSnapshot(`
      [
        "│  └─ ✓ spawn_agent       scout · Look · 2 turns · “b…       ~30 → 4       0 ms",
        "│     ├─ step 1  scout                                        ~9 → 2       0 ms",
        "│     └─ turn 2 · step 1  scout                              ~21 → 2       0 ms",
        "│  └─ ✓ wait_for_agent    scout#1 · “because”                              0 ms",
        "│  └─ ✓ send_agent_input  scout#1 · “because”                              0 ms",
        "│  └─ ✓ wait_for_agent    scout#1 · “because”                              0 ms",
      ]
    `)
    const progress = new PlainProgress(plainPaint)
    expect(all.flatMap((event) => progress.lines(event)).filter((line) => /scout.*step/.test(line))).toMatchInlineSnapshot(`
      [
        "child:scout │ step 1 scout",
        "child:scout │ turn 2 · step 1",
      ]
    `)
    const starts = events.filter(({ type, agentPath }) => type === 'interaction.step.started' && agentPath !== 'root')
    const [root] = runTree(events.slice(0, starts[1]?.seq ?? 0)).roots
    const live = renderTurn(root!, root!.turns[0]!, { paint: plainPaint, width: 80, moment: { kind: 'live', now: 80 } })
    expect(ofScout(live)).toMatchInlineSnapshot(`
      [
        "│  └─ ✓ spawn_agent       scout · Look · turn 2 · ste…       ~62 → 2      0.0 s",
        "│     ├─ step 1  scout                                        ~9 → 2       0 ms",
        "│     └─ ⠙ turn 2 · step 1  scout                            ~53 → 0      0.0 s",
        "│  └─ ✓ wait_for_agent    scout#1 · “because”                              0 ms",
        "└─ ⠙ send_agent_input  scout#1 · “because”                             0.0 s",
      ]
    `)
  })
})
