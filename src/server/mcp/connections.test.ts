import { expect, test } from 'vitest'
import { FakeClock } from '../../testing/index.ts'
import { Connections } from './connections.ts'

function scene(limits: { total?: number; perToken?: number; idleMs?: number } = {}) {
  const clock = new FakeClock()
  const connections = new Connections(clock, { total: 3, perToken: 2, idleMs: 1_000, ...limits })
  const ended: string[] = []
  const open = (name: string, owner = 'one') => connections.open(owner, () => ended.push(name))
  return { clock, connections, ended, open }
}

test('a connection without anything open ends after the idle time', () => {
  const { clock, connections, ended, open } = scene()
  const busy = open('busy')
  open('idle')
  busy.enter()
  clock.advance(1_000)
  expect(ended).toEqual(['idle'])
  busy.leave()
  clock.advance(999)
  busy.enter()
  busy.leave()
  clock.advance(999)
  expect(ended).toEqual(['idle'])
  clock.advance(1)
  expect(ended).toEqual(['idle', 'busy'])
  expect(connections.size).toBe(0)
})

test('beyond the limit of an owner, its least recently used idle connection makes room', () => {
  const { connections, ended, open } = scene()
  const first = open('first')
  open('second')
  first.enter()
  first.leave()
  open('third')
  expect(ended).toEqual(['second'])
  expect(connections.size).toBe(2)
})

test('owners do not take room from each other, and open connections are kept', () => {
  const { ended, open } = scene()
  for (const name of ['first', 'second']) open(name).enter()
  expect(() => open('third')).toThrow(/Too many MCP connections/)
  open('other', 'two')
  expect(() => open('last', 'three')).toThrow(/Too many MCP connections/)
  expect(ended).toEqual([])
})

test('a connection that has closed is forgotten', () => {
  const { clock, connections, ended, open } = scene()
  const place = open('first')
  place.enter()
  place.close()
  place.leave()
  clock.advance(5_000)
  expect(ended).toEqual([])
  expect(connections.size).toBe(0)
})
