import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { RunHandle } from '../../src/index.ts'
import { noSandboxHere, sandboxed } from '../sandbox-here.ts'
import { type ActorSetup, actor, alive, mark, no, recordsIn, told, yes } from './acting-support.ts'
import { agent, bounded, expectLegal, expectWhole, finish, journalOf, ofType, until } from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

const shell = (command: string, more: object = {}) => ({ tool: 'shell', input: { command, ...more } })
const step = (...calls: readonly object[]) => ({ calls }) as never
const acting = (setup: ActorSetup) => actor({ decide: () => yes(), ...setup })

/** Reads until a command has printed this. */
async function printed(handle: RunHandle, text: string): Promise<void> {
  let output = ''
  for await (const event of handle) {
    if (event.type === 'interaction.item.delta' && event.kind === 'output') output += event.text
    if (output.includes(text)) return
  }
  throw new Error(`it never printed ${text}: ${output}`)
}

describe.skipIf(noSandboxHere)(sandboxed('a command that does not end by itself'), () => {
  const endless: readonly (readonly [string, (sleep: string) => string])[] = [
    ['spins', () => 'echo started; while :; do :; done'],
    ['prints without end', () => 'echo started; yes "a line of an endless text"'],
    ['heeds no signal', (sleep) => `trap '' INT TERM HUP QUIT; echo started; while :; do sleep ${sleep}; done`],
    ['has left its group and waits', (sleep) => `setsid sleep ${sleep} & echo started; wait`],
    [
      'has forked twice and holds its output',
      (sleep) => `(setsid sh -c 'sleep ${sleep} & sleep ${sleep}' &) ; echo started; sleep ${sleep}`,
    ],
    ['waits for a pipe that nobody writes to', () => 'mkfifo p; echo started; cat p'],
  ]
  test.each(endless)(
    '%s: an interrupt ends it and all that it has started, and says that it may have done something',
    async (_, command) => {
      const sleep = mark()
      const made = acting({ steps: [step(shell(command(sleep)))] })
      const handle = made.runtime.stream('go')
      await bounded(printed(handle, 'started'), 'the beginning', 40_000)
      const begun = performance.now()
      await handle.interrupt()
      const outcome = await bounded(handle.outcome, 'the outcome', 40_000)
      expectWhole(outcome)
      expect(performance.now() - begun).toBeLessThan(10_000)
      expect([outcome.status, outcome.reason]).toEqual(['interrupted', 'interrupted'])
      await until('all its processes are gone', () => alive(sleep).length === 0)
      const events = await journalOf(made.store, outcome.sessionId)
      expectLegal(events)
      const [record] = recordsIn(events)
      expect(record?.status).toBe('interrupted')
      expect(record?.content).toMatch(/\d+\.\d s/)
      expect(record?.content).toMatch(/may have/)
      expect(Buffer.byteLength(record?.content ?? '')).toBeLessThan(40_000)
    },
  )

  test('a stop lets the model have a last word, whatever becomes of the command', async () => {
    const made = acting({ steps: [step(shell('echo started; until [ -e go ]; do :; done; echo went')), { text: 'As far as I came.' }] })
    const handle = made.runtime.stream('go')
    await bounded(printed(handle, 'started'), 'the beginning', 40_000)
    await handle.stop()
    await until(
      'it is on record',
      async () => ofType(await journalOf(made.store, handle.sessionId), 'interaction.cancel.requested').length > 0,
    )
    writeFileSync(made.at('go'), '')
    expect(await finish(handle)).toMatchObject({ status: 'partial', reason: 'stopped', report: { text: 'As far as I came.' } })
    expect(made.model.requests.at(-1)?.toolChoice).toBe('none')
  })

  test('of a child ends with the whole tree, and the parent’s beside it', async () => {
    const [one, two] = [mark(), mark()]
    const made = acting({
      config: {
        agents: [
          { ...agent, name: 'boss', agents: ['hand'] },
          { ...agent, name: 'hand', tools: ['shell'], usage: 'what to run', output: { format: 'text' } },
        ],
        agentSelection: { agent: 'boss' },
      },
      steps: [
        step({ tool: 'agent__hand', input: { prompt: 'run' } }, { tool: 'agent__hand', input: { prompt: 'run' } }),
        step(shell(`echo started; sleep ${one}`)),
        step(shell(`echo started; sleep ${two}`)),
      ],
    })
    const handle = made.runtime.stream('go')
    let begun = 0
    for await (const event of handle) {
      if (event.type === 'interaction.item.delta' && event.kind === 'output' && event.text.includes('started')) begun += 1
      if (begun === 2) break
    }
    await until('both sleep', () => alive(one).length > 0 && alive(two).length > 0)
    await handle.interrupt()
    const outcome = await bounded(handle.outcome, 'the outcome', 40_000)
    expect(outcome.status).toBe('interrupted')
    await until('all processes are gone', () => alive(one).length + alive(two).length === 0)
    const events = await journalOf(made.store, outcome.sessionId)
    const ends = ofType(events, 'interaction.turn.interrupted').map(({ agentPath }) => agentPath)
    expect(ends.toSorted()).toEqual(['root', 'root/hand#1', 'root/hand#2'])
    expect(recordsIn(events).map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => 'interrupted'))
  })
})

describe.skipIf(noSandboxHere)(sandboxed('a command that means harm or does not know better'), () => {
  test('daemons, forks, keyboards, bombs: each call ends by itself, and the next one works', async () => {
    const left = mark()
    const made = acting({
      kit: { policy: { processes: 40 } },
      limits: { maxToolTurns: 12 },
      steps: [
        step(shell(`nohup setsid sleep ${left} >/dev/null 2>&1 & echo daemon`)),
        step(shell(`sh -c '(sleep ${left} &)'; sh -c 'sleep ${left} & disown 2>/dev/null; exit 0'; echo forked`)),
        step(shell('cat; read -r answer; echo "got:$answer"; (head -c1 </dev/tty) 2>/dev/null || echo no keyboard')),
        // Whoever started it stays: else all could be over before there are too many.
        step(shell('bomb() { bomb | bomb & }; bomb; sleep 30', { timeout: 40 })),
        step(shell('echo still here')),
        { text: 'Done.' },
      ],
    })
    const outcome = await bounded(made.runtime.run('go'), 'the run', 50_000)
    expect(outcome.status).toBe('completed')
    const [daemon, forked, keyboard, bomb, after] = told(made).map(({ content }) => content)
    expect([daemon, forked, after]).toEqual(['daemon', 'forked', 'still here'].map((word) => expect.stringContaining(`\n${word}`)))
    expect(keyboard).toContain('got:\nno keyboard')
    expect(bomb).toMatch(/process/i)
    expect(alive(left)).toEqual([])
  })

  test('it is given the variables that are named, the workspace, and nothing else of the machine', async () => {
    process.env.TROUPE_ACCEPTANCE_SECRET = 'of-the-process'
    onTestFinished(() => void delete process.env.TROUPE_ACCEPTANCE_SECRET)
    const made = acting({
      kit: { policy: { environment: ['REGION'] } },
      config: { overlay: { REGION: 'north', DEPLOY_KEY: 'of-the-session' } },
      steps: [step(shell('env; cat "$HOME"/.netrc ../home/.netrc 2>&1; ls /home /root 2>/dev/null; true')), { text: 'Done.' }],
    })
    writeFileSync(join(made.home, '.netrc'), 'password of-the-home\n')
    await bounded(made.runtime.run('go'), 'the run', 50_000)
    const [{ content = '' } = {}] = told(made)
    expect(content).toContain('REGION=north')
    expect(content).not.toMatch(/of-the-(process|session|home)/)
  })
})

describe.skipIf(noSandboxHere)(sandboxed('a way out of the sandbox'), () => {
  /** Commands see it wherever the workspace lies, and may not write to it: Git would run what is there. */
  const folder = '.git/hooks'
  const files = { [`${folder}/README`]: 'Hooks.' }

  test('needs its own approval; then the command runs once more, outside, and the journal says who approved', async () => {
    const file = `${folder}/made`
    const made = acting({ files, steps: [step(shell(`echo tried >> tries; echo out > ${file}`)), { text: 'Done.' }] })
    const { sessionId: treeId } = await bounded(made.runtime.run('go'), 'the run', 50_000)
    expect(made.asked.map(({ scope, input }) => [scope, input])).toEqual(
      ['call', 'unsandboxed'].map((scope) => [scope, { command: `echo tried >> tries; echo out > ${file}` }]),
    )
    expect([made.read(file), made.read('tries')]).toEqual(['out\n', 'tried\ntried\n'])
    const events = await journalOf(made.store, treeId)
    const resolved = ofType(events, 'interaction.approval.resolved')
    const [again] = ofType(events, 'interaction.item.updated')
    expect(resolved).toMatchObject([{ by: 'ann' }, { by: 'ann', approvalId: made.asked[1]?.id }])
    expect(again?.update).toMatchObject({ kind: 'attempt', attempt: 2, reason: 'unsandboxed' })
    expect(again?.seq).toBeGreaterThan(resolved[1]?.seq ?? Number.POSITIVE_INFINITY)
  })

  test('is not opened by a grant for the tool, by a rule that allows everything, or by a no', async () => {
    const made = acting({
      files,
      config: { approvals: { rules: [{ allow: '*' }] } },
      decide: () => no('stay inside'),
      steps: [step(shell(`echo 1 > ${folder}/one`)), step(shell(`echo 2 > ${folder}/two`)), { text: 'Done.' }],
    })
    await bounded(made.runtime.run('go'), 'the run', 50_000)
    expect(made.asked.map(({ scope }) => scope)).toEqual(['unsandboxed', 'unsandboxed'])
    for (const name of ['one', 'two']) expect(existsSync(join(made.workspace, folder, name))).toBe(false)
    expect(told(made).map(({ ok }) => ok)).toEqual([false, false])
  })
})

describe.skipIf(noSandboxHere)(sandboxed('a command that only looks'), () => {
  test('needs no approval; one that looks like it and does more is asked about, and does not run unapproved', async () => {
    const tricks = [
      'git log --output=made',
      'git -c core.fsmonitor="touch made" status',
      'git -c alias.x="!touch made" x',
      'git grep -Otouch a',
      'git branch made',
      'GIT_PAGER="touch made" git -p log',
      'ls > made',
      'ls; touch made',
      'ls\ntouch made',
      'ls & touch made',
      'ls $(touch made)',
      'ls `touch made`',
      'cat <(touch made)',
      'ls | tee made',
      'find . -exec touch made \\;',
    ]
    const made = acting({
      files: { 'a.txt': 'a\n' },
      decide: () => no('only look'),
      limits: { maxToolTurns: 20 },
      steps: [step(shell('ls')), step(shell('cat a.txt')), ...tricks.map((command) => step(shell(command))), { text: 'Done.' }],
    })
    expect(await bounded(made.runtime.run('go'), 'the run', 50_000)).toMatchObject({ status: 'completed' })
    expect(made.asked.map(({ input }) => input.command)).toEqual(tricks)
    expect(told(made).map(({ ok }) => ok)).toEqual([true, true, ...tricks.map(() => false)])
    expect(existsSync(made.at('made'))).toBe(false)
  })

  test('an approval for the session covers that command: not with another behind it, in another folder, or with more words', async () => {
    const others = [
      'touch made; touch other',
      'touch made\ntouch other',
      'touch made && touch other',
      'touch made | touch other',
      'touch made other',
      'touch made > other',
    ]
    const made = acting({
      decide: (_, n) => (n === 1 ? yes('session') : no('only that')),
      limits: { maxToolTurns: 20 },
      steps: [
        step(shell('touch made')),
        step(shell('touch made', { timeout: 9 })),
        step(shell('touch made', { cwd: 'sub' })),
        ...others.map((command) => step(shell(command))),
        { text: 'Done.' },
      ],
      files: { 'sub/a.txt': '' },
    })
    expect(await bounded(made.runtime.run('go'), 'the run', 50_000)).toMatchObject({ status: 'completed' })
    expect(made.asked.map(({ input }) => input)).toEqual([
      { command: 'touch made' },
      { command: 'touch made', cwd: 'sub' },
      ...others.map((command) => ({ command })),
    ])
    expect(existsSync(made.at('other'))).toBe(false)
  })
})

describe('without a sandbox', () => {
  test('commands are refused with a remedy, nobody is asked to run them without, and everything else works', async () => {
    const made = acting({
      kit: { path: '/nowhere/bin' },
      config: { approvals: { rules: [{ allow: '*' }] } },
      steps: [step(shell('touch made')), step({ tool: 'write_file', input: { path: 'a.txt', content: 'a' } }), { text: 'Done.' }],
    })
    const outcome = await bounded(made.runtime.run('go'), 'the run', 50_000)
    expect(outcome.status).toBe('completed')
    const [refused, written] = told(made)
    expect(refused).toMatchObject({ ok: false, content: expect.stringMatching(/sandbox_unavailable[\s\S]*bubblewrap[\s\S]*off/) })
    expect(written?.ok).toBe(true)
    expect(made.asked).toEqual([])
    expect(existsSync(made.at('made'))).toBe(false)
    expect(await made.kit.probe()).toMatchObject({ kind: 'unavailable', failure: { class: 'sandbox_unavailable' } })
  })
})
