import assert from 'node:assert/strict'
import { it } from 'vitest'
import { Watchers } from './watchers.ts'

it('calls all current subscribers once each (1)', () => {
  const watchers = new Watchers<string>()
  const calls: string[] = []
  const stopFirst = watchers.add('a', () => {
    calls.push('first')
    stopFirst()
    watchers.add('a', () => calls.push('late'))
  })
  const twice = (): void => void calls.push('twice')
  watchers.add('a', twice)
  watchers.add('a', twice)
  watchers.add('b', () => calls.push('other'))
  watchers.wake('a')
  assert.deepEqual(calls, ['first', 'twice', 'twice'])
  calls.length = 0
  watchers.wakeAll()
  assert.deepEqual(calls, ['twice', 'twice', 'late', 'other'])
})

it('reports a callback that throws and calls the others (2)', () => {
  const reported: unknown[] = []
  const watchers = new Watchers<string>((error) => reported.push(error))
  const failure = new Error('a bug of the watcher')
  const calls: string[] = []
  watchers.add('a', () => {
    throw failure
  })
  watchers.add('a', () => calls.push('called'))
  watchers.wake('a')
  assert.deepEqual(calls, ['called'])
  assert.deepEqual(reported, [failure])
})

it('is idle when the last one has left', () => {
  const watchers = new Watchers<string>()
  const stops = [watchers.add('a', () => {}), watchers.add('b', () => {})]
  assert.equal(watchers.idle, false)
  for (const stop of stops) stop()
  assert.equal(watchers.idle, true)
})
