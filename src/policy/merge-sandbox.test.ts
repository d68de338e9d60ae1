import { describe, expect, it } from 'vitest'
import { mergeSandbox, uncoveredEntries } from './merge-sandbox.ts'

describe('what two places allow together', () => {
  it.each([
    [['/data'], ['/data/out'], ['/data/out']],
    [
      ['/data/out', '/srv'],
      ['/data', '/srv'],
      ['/data/out', '/srv'],
    ],
    [['/data'], ['/database'], []],
    [['/data/'], ['/data'], ['/data/']],
    [
      ['/a', '/b/c'],
      ['/a/x', '/b'],
      ['/b/c', '/a/x'],
    ],
    [['/data'], [], []],
  ])('of folders, %j and %j: %j', (one, other, writable) => {
    expect(mergeSandbox({ writable: one }, { writable: other })).toEqual({ writable })
    expect(mergeSandbox({ writable: other }, { writable: one }).writable?.length).toBe(writable.length)
  })

  it.each([
    [['*.example.com'], ['api.example.com'], ['api.example.com']],
    [['*.example.com'], ['*.api.example.com'], ['*.api.example.com']],
    [['example.com'], ['EXAMPLE.com.'], ['example.com']],
    [['[::1]'], ['::1'], ['[::1]']],
    [['*.0.1'], ['10.0.0.1'], []],
    [['*.example.com'], ['example.com'], []],
  ])('of hosts, %j and %j: %j', (one, other, hosts) => {
    expect(mergeSandbox({ hosts: one }, { hosts: other })).toEqual({ hosts })
  })

  it('of variables those that both name', () => {
    expect(mergeSandbox({ environment: ['A', 'B'] }, { environment: ['B', 'C'] })).toEqual({ environment: ['B'] })
  })
})

it('names what falls away, also where a narrower part of it stays', () => {
  expect(uncoveredEntries('writable', ['/data', '/data/out/a', '/srv'], ['/data/out'])).toEqual(['/data', '/srv'])
  expect(uncoveredEntries('hosts', ['a.example.com', 'b.test'], ['*.example.com'])).toEqual(['b.test'])
  expect(uncoveredEntries('environment', ['A'], [])).toEqual(['A'])
})
