import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import type { ApprovalId, ApprovalKey, Hook, ProjectGrants } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { gate } from '../../src/testing/index.ts'
import { actor, callsIn, ground, lay, no, recordsIn, told, yes } from './acting-support.ts'
import { agent, bounded, collect, durable, expectLegal, finish, journalOf, ofType, resultsIn, temporaryFolder, until } from './support.ts'

vi.setConfig({ testTimeout: 60_000 })

const write = (path: string, content = 'x') => ({ tool: 'write_file', input: { path, content } })
const step = (...calls: readonly object[]) => ({ calls }) as never

describe('a rule that denies', () => {
  test('is beaten by no grant of the session or of the project and by no person, however the path is written', async () => {
    const place = ground({ 'private/diary.md': 'mine\n', 'docs/a.md': '' })
    const list: ApprovalKey[] = [
      { key: `path:${place.workspace}/`, label: 'all files', isPrefix: true },
      { key: 'tool:write_file', label: 'any call' },
    ]
    const house = { name: 'house', rules: [{ deny: 'write_file(private/*)', reason: 'It is private' }] }
    const paths = [
      'private/diary.md',
      './private/diary.md',
      'docs/../private/diary.md',
      place.at('private/diary.md'),
      'private//diary.md',
      'private/new/deep.md',
    ]
    const made = actor({
      ground: place,
      grants: { list: () => list, add: async () => undefined } satisfies ProjectGrants,
      decide: () => yes('session', 'tool:write_file'),
      config: { approvals: [house, { rules: [{ allow: 'write_file' }] }] },
      steps: [...paths.map((path, i) => step(write(path, `${i}`))), step(write('docs/a.md', 'fine')), { text: 'Done.' }],
    })
    expect(await bounded(made.runtime.run('go'), 'the run', 50_000)).toMatchObject({ status: 'completed' })
    expect(told(made).map(({ ok }) => ok)).toEqual([...paths.map(() => false), true])
    for (const { content } of told(made).slice(0, -1)) expect(content).toContain('It is private')
    expect(made.asked).toEqual([])
    expect([made.read('private/diary.md'), made.read('docs/a.md')]).toEqual(['mine\n', 'fine'])
  })

  test('is beaten by no grant that a person gives in the same run, nor by an answer that was given before the rule', async () => {
    const store = memoryStore()
    const calls = [step(write('a.txt', 'first')), step(write('b.txt', 'second'))]
    const first = actor({
      store,
      decide: (_, n) => (n === 1 ? yes('session', 'tool:write_file') : 'suspend'),
      steps: [...calls, { text: 'Both.' }],
    })
    expect(await bounded(first.runtime.run('go'), 'the run', 50_000)).toMatchObject({ status: 'completed' })

    const waiting = actor({ store, decide: () => 'suspend', steps: [step(write('c.txt'))] })
    const { sessionId: treeId } = await bounded(waiting.runtime.run('go'), 'the run', 50_000)
    await waiting.runtime.close()
    const ruled = actor({
      store,
      ground: waiting,
      decide: () => yes('session'),
      config: { approvals: { rules: [{ deny: 'write_file', reason: 'Read only from now on' }] } },
      steps: [{ text: 'I may not.' }],
    })
    const approvalId = waiting.asked[0]?.id as ApprovalId
    await ruled.runtime.sessions.approve(treeId, { approvalId, decision: yes('session', 'tool:write_file'), by: 'bob' })
    expect(await finish(await ruled.runtime.open(treeId))).toMatchObject({ status: 'completed', report: { text: 'I may not.' } })
    expect(resultsIn(ruled.model.requests[0])).toMatchObject([{ ok: false, content: expect.stringContaining('Read only from now on') }])
    expect(existsSync(waiting.at('c.txt'))).toBe(false)
  })
})

describe('what was approved is what happens, also where the ground moves under it', () => {
  const racing = (name: string, move: (made: ReturnType<typeof ground>) => void, call: object = write('pub/note.txt', 'STOLEN')) =>
    test(`${name} while the person thinks`, async () => {
      const place = ground({ 'pub/note.txt': 'public\n', 'private/note.txt': 'private\n', '.ai-agent.json': '{}\n' })
      mkdirSync(join(place.base, 'outside'))
      lay(place.base, { 'outside/note.txt': 'outside\n' })
      let asked = 0
      const made = actor({
        ground: place,
        config: { approvals: { rules: [{ deny: '*(*private*)', reason: 'private' }] } },
        decide: () => {
          if (asked++ === 0) move(place)
          return asked === 1 ? yes('session') : no('that is another file')
        },
        steps: [step(call), { text: 'Done.' }],
      })
      expect(await bounded(made.runtime.run('go'), 'the run', 50_000)).toMatchObject({ status: 'completed' })
      expect(readFileSync(join(place.base, 'outside/note.txt'), 'utf8')).toBe('outside\n')
      expect(place.read('private/note.txt')).toBe('private\n')
      expect(place.read('.ai-agent.json')).toBe('{}\n')
    })
  const swapFolder =
    (target: string) =>
    ({ at }: ReturnType<typeof ground>): void => {
      renameSync(at('pub'), at('pub-before'))
      symlinkSync(target, at('pub'))
    }
  const swapFile =
    (target: string) =>
    ({ at }: ReturnType<typeof ground>): void => {
      rmSync(at('pub/note.txt'))
      symlinkSync(target, at('pub/note.txt'))
    }
  const patch = {
    tool: 'apply_patch',
    input: { patch: '*** Begin Patch\n*** Update File: pub/note.txt\n-public\n+STOLEN\n*** End Patch\n' },
  }
  const edit = (old: string) => ({ tool: 'edit_file', input: { path: 'pub/note.txt', old, new: 'STOLEN' } })

  racing('a folder becomes a link out of the workspace', swapFolder('../../outside'))
  racing('a file becomes a link out of the workspace', swapFile('../../outside/note.txt'))
  racing('a folder becomes a link to one that a rule forbids', swapFolder('private'))
  racing('a file becomes a link to one that a rule forbids', swapFile('../private/note.txt'))
  racing('a file becomes a link to one that is protected', swapFile('../.ai-agent.json'))
  racing('the same for a change of a part of it', swapFile('../private/note.txt'), edit('private'))
  racing('the same for a protected file', swapFile('../.ai-agent.json'), edit('{}'))
  racing('the same for a patch', swapFolder('private'), patch)

  test('a folder that was granted for the session and is another one by the next call is not written to under that grant', async () => {
    const place = ground({ 'pub/a.txt': 'a\n', 'other/a.txt': 'other\n' })
    const moving: Hook = {
      name: 'mover',
      onFailure: 'closed',
      beforeCall: ({ input }) => {
        if (input.content === 'second') swapFolder('other')(place)
        return { kind: 'continue' }
      },
    }
    const made = actor({
      ground: place,
      hooks: [moving],
      decide: (_, n) => (n === 1 ? yes('session', `path:${place.at('pub')}/`) : no('that is another folder')),
      steps: [step(write('pub/a.txt', 'first')), step(write('pub/a.txt', 'second')), { text: 'Done.' }],
    })
    expect(await bounded(made.runtime.run('go'), 'the run', 50_000)).toMatchObject({ status: 'completed' })
    expect(told(made).map(({ ok }) => ok)).toEqual([true, false])
    expect([place.read('pub-before/a.txt'), place.read('other/a.txt')]).toEqual(['first', 'other\n'])
  })

  test('arguments that a hook changes need a new approval', async () => {
    let isOn = false
    const made = actor({
      hooks: [
        {
          name: 'elsewhere',
          onFailure: 'closed',
          beforeCall: ({ input }) =>
            isOn ? { kind: 'change', input: { ...input, path: 'b.txt' }, reason: 'rather there' } : { kind: 'continue' },
        },
      ],
      decide: (_, n) => {
        isOn = true
        return n === 1 ? yes('session') : no('not b')
      },
      steps: [step(write('a.txt', '1')), step(write('a.txt', '2')), { text: 'Done.' }],
    })
    const { sessionId: treeId } = await bounded(made.runtime.run('go'), 'the run', 50_000)
    expect(made.asked.map(({ input }) => input)).toEqual([
      { path: 'a.txt', content: '1' },
      { path: 'b.txt', content: '2' },
    ])
    expect(told(made).map(({ ok }) => ok)).toEqual([true, false])
    expect(made.read('a.txt')).toBe('1')
    expect(recordsIn(await journalOf(made.store, treeId)).map(({ status }) => status)).toEqual(['completed', 'declined'])
  })
})

describe('a child’s request', () => {
  const team = {
    agents: [
      { ...agent, name: 'boss', agents: ['writer'], tools: [] },
      { ...agent, name: 'writer', tools: ['write_file'], usage: 'what to write', output: { format: 'text' as const } },
    ],
    agentSelection: { agent: 'boss' },
  }

  test('belongs to the root, waits in the store, is answered by the service of another process; later answers change nothing', async () => {
    const path = temporaryFolder()
    const store = sqliteStore({ path })
    const first = actor({
      store,
      config: team,
      decide: () => 'suspend',
      steps: [step({ tool: 'agent__writer', input: { prompt: 'Write it' } }), step(write('child.txt', 'by a child'))],
    })
    const suspended = await bounded(first.runtime.run('go'), 'the run', 50_000)
    expect(suspended).toMatchObject({ status: 'suspended', reason: 'approval' })
    const { sessionId: treeId } = suspended
    const [requested] = ofType(await journalOf(store, treeId), 'interaction.approval.requested')
    expect(requested).toMatchObject({ agentPath: 'root/writer#1', request: { tool: 'write_file', input: { path: 'child.txt' } } })
    await first.runtime.close()

    // A service that drives nothing yet: it answers for a tree that it has never seen.
    const other = sqliteStore({ path })
    const second = actor({
      store: other,
      ground: first,
      config: team,
      decide: () => 'suspend',
      steps: [{ text: 'Written.' }, { text: 'It is.' }],
    })
    const approvalId = requested?.request.id as ApprovalId
    const before = await journalOf(other, treeId)
    await second.runtime.sessions.approve(treeId, { approvalId, decision: yes(), by: 'bob' })
    const late = second.runtime.sessions.approve(treeId, { approvalId, decision: no('too late'), by: 'eve' })
    await expect(late).rejects.toMatchObject({ code: 'approval_answered', first: { by: 'bob' } })
    const outcome = await finish(await second.runtime.open(treeId))
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'It is.' } })
    expect(second.read('child.txt')).toBe('by a child')
    const journal = await journalOf(other, treeId)
    expect(ofType(journal, 'interaction.approval.resolved')).toMatchObject([{ agentPath: 'root/writer#1', by: 'bob' }])
    expect(callsIn(journal).filter(({ tool }) => tool === 'write_file')).toMatchObject([{ approved: { by: 'bob' } }])
    expect(recordsIn(journal).filter(({ type }) => type === 'file_change')).toMatchObject([{ status: 'completed' }])
    expect(outcome.diagnostics).toEqual([])
    // Whoever read up to the question goes on behind it, and has missed nothing.
    const after = durable(await bounded(collect(second.runtime.sessions.events(treeId, before.length))))
    expect([...before, ...after]).toEqual(journal)
    await store.close()
    await other.close()
  })

  test('granted for the session applies to the whole run, except where a rule denies it, until revoked, and to no other run', async () => {
    const strict = {
      ...agent,
      name: 'strict',
      tools: ['write_file'],
      usage: 'what not to write',
      output: { format: 'text' as const },
      approvals: [{ deny: 'write_file', reason: 'Strict writes nothing' }],
    }
    const [boss, writer] = team.agents
    const config = { ...team, agents: [{ ...boss, tools: ['write_file'], agents: ['writer', 'strict'] }, writer, strict] as never }
    const asking = (child: string) => step({ tool: `agent__${child}`, input: { prompt: 'Write' } })
    const held = gate()
    const store = memoryStore()
    const made = actor({
      store,
      config,
      decide: (_, n) => (n === 1 ? yes('session', 'tool:write_file') : no('no longer')),
      limits: { maxToolTurns: 12 },
      steps: [
        asking('writer'),
        step(write('first.txt')),
        { text: 'Written.' },
        asking('writer'),
        step(write('sister.txt')),
        { text: 'Written.' },
        asking('strict'),
        step(write('strict.txt')),
        { text: 'Not written.' },
        step(write('root.txt')),
        { ...(asking('writer') as object), wait: held.promise },
        step(write('late.txt')),
        { text: 'Refused.' },
        { text: 'Done.' },
      ],
    })
    const handle = made.runtime.stream('go')
    await until('the root has written, too', () => made.model.requests.length === 11, 40_000)
    expect(made.asked.map(({ input }) => input.path)).toEqual(['first.txt'])
    expect(['first.txt', 'sister.txt', 'strict.txt', 'root.txt'].map((name) => existsSync(made.at(name)))).toEqual([
      true,
      true,
      false,
      true,
    ])
    await made.runtime.sessions.revoke(handle.sessionId, ['tool:write_file'], 'bob')
    await until('it is on record', async () => ofType(await journalOf(store, handle.sessionId), 'interaction.approval.revoked').length > 0)
    held.open()
    expect(await finish(handle)).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
    expect(made.asked.map(({ input }) => input.path)).toEqual(['first.txt', 'late.txt'])
    expect(existsSync(made.at('late.txt'))).toBe(false)

    const other = actor({
      store,
      ground: made,
      config,
      decide: () => no('another run'),
      steps: [step(write('other.txt')), { text: 'Done.' }],
    })
    await bounded(other.runtime.run('go'), 'the run', 50_000)
    expect(other.asked).toHaveLength(1)
  })
})

describe('taking back', () => {
  test('in the middle of a run, through the service of another process: the next call is asked about, with who took it back on record', async () => {
    const store = memoryStore()
    const held = gate()
    const first = actor({
      store,
      decide: (request, n) => (n === 1 ? yes('session', request.wider?.at(-1)?.key) : no('no longer')),
      steps: [
        step(write('1.txt')),
        step(write('2.txt')),
        { ...(step(write('3.txt')) as object), wait: held.promise },
        { text: 'Two of three.' },
      ],
    })
    const handle = first.runtime.stream('go')
    await until('the model is asked for the third time', () => first.model.requests.length === 3)
    expect(first.asked).toHaveLength(1)
    const other = actor({ store, ground: first })
    await other.runtime.sessions.revoke(handle.sessionId, ['tool:write_file'], 'bob')
    await until('it is on record', async () => ofType(await journalOf(store, handle.sessionId), 'interaction.approval.revoked').length > 0)
    held.open()
    const outcome = await finish(handle)
    expect(outcome.snapshot.approvalKeys).toEqual([])
    const events = await journalOf(store, handle.sessionId)
    expectLegal(events)
    expect(ofType(events, 'interaction.approval.revoked')).toMatchObject([{ keys: ['tool:write_file'], by: 'bob' }])
    expect(first.asked.map(({ input }) => input.path)).toEqual(['1.txt', '3.txt'])
    expect(told(first).map(({ ok }) => ok)).toEqual([true, true, false])
  })
})
