import assert from 'node:assert/strict'
import type { ApprovalId, InboxMessage } from '../../contracts/index.ts'
import { batch, client, input, oddText, one, type StoreCase, two } from './store-case.ts'

export const inboxCases: readonly StoreCase[] = [
  {
    name: 'gives every kind of message back, in the order in which they came',
    async run({ store, other }) {
      const messages: readonly InboxMessage[] = [
        input(oddText),
        { kind: 'approval', approvalId: 'a1' as ApprovalId, decision: { kind: 'deny', feedback: oddText }, by: 'someone' },
        { kind: 'revoke', keys: ['tool:shell'], by: 'someone' },
        { kind: 'cancel', mode: 'interrupt', by: 'someone' },
      ]
      const positions: number[] = []
      for (const [index, message] of messages.entries()) {
        const { position, repeated } = await other.inbox.add(one, client(`client-${index}`), message)
        assert.equal(repeated, false)
        positions.push(position)
      }
      assert.deepEqual(
        await store.inbox.read(one, 0),
        messages.map((message, index) => ({ position: positions[index], clientId: `client-${index}`, message })),
      )
    },
  },
  {
    name: 'reads what is after the cursor',
    async run({ store }) {
      for (const name of ['a', 'b', 'c']) await store.inbox.add(one, client(name), input(name))
      const all = await store.inbox.read(one, 0)
      for (const [index, { position }] of all.entries()) assert.deepEqual(await store.inbox.read(one, position), all.slice(index + 1))
    },
  },
  {
    name: 'stores a repeated client id once and returns the first position',
    async run({ store, other }) {
      const first = await store.inbox.add(one, client('a'), input('first'))
      const second = await store.inbox.add(one, client('b'), input('second'))
      assert(first.position > 0 && second.position > first.position)
      assert.deepEqual(await other.inbox.add(one, client('a'), input('changed')), { position: first.position, repeated: true })
      assert.deepEqual(await store.inbox.read(one, 0), [
        { position: first.position, clientId: 'a', message: input('first') },
        { position: second.position, clientId: 'b', message: input('second') },
      ])
    },
  },
  {
    name: 'takes a client id once when it comes many times in one tick',
    async run({ store, other }) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 ? store : other).inbox.add(one, client('a'), input('hello'))),
      )
      assert.equal(answers.filter(({ repeated }) => !repeated).length, 1)
      assert.equal(new Set(answers.map(({ position }) => position)).size, 1)
      assert.equal((await store.inbox.read(one, 0)).length, 1)
    },
  },
  {
    name: 'loses nothing when several processes add at the same time',
    async run({ store, other }) {
      const names = Array.from({ length: 40 }, (_, index) => `client-${index}`)
      await Promise.all(names.map((name, index) => (index % 2 ? store : other).inbox.add(one, client(name), input(name))))
      const rows = await store.inbox.read(one, 0)
      assert.deepEqual(rows.map(({ clientId }) => clientId).sort(), names.sort())
      assert.equal(new Set(rows.map(({ position }) => position)).size, names.length)
      assert.deepEqual(
        rows.map(({ position }) => position),
        rows.map(({ position }) => position).sort((a, b) => a - b),
      )
    },
  },
  {
    name: 'keeps the client ids of each tree apart, and any two that differ',
    async run({ store }) {
      await store.inbox.add(one, client('a'), input('for one'))
      assert.equal((await store.inbox.add(two, client('a'), input('for two'))).repeated, false)
      for (const name of ['\ud800', '\ud801', '\ufffd', '"a"', 'A', ' a']) {
        assert.equal(
          (await store.inbox.add(one, client(name), input(name))).repeated,
          false,
          `${JSON.stringify(name)} was taken for another`,
        )
      }
      assert.deepEqual(
        (await store.inbox.read(two, 0)).map(({ message }) => message),
        [input('for two')],
      )
    },
  },
  {
    name: 'takes messages for a tree that nobody has claimed, which does not claim it',
    async run({ store }) {
      assert.deepEqual(await store.inbox.read(one, 0), [])
      await store.inbox.add(one, client('a'), input('early'))
      assert.deepEqual(await store.journal.append(batch(one, 0, { after: 0, count: 1 })), { ok: false, refusal: 'missing' })
      assert.deepEqual(await store.trees.list(), [])
    },
  },
]
