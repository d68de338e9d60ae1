import { describe, expect, it } from 'vitest'
import type { TreeEntry, TreeId } from '../../../contracts/index.ts'
import { parseAge } from '../../../util/parse-time.ts'
import { prunable } from './retention.ts'

const day = 86_400_000
const now = 100 * day

/** The newest first, one a day. */
const entries = (statuses: readonly TreeEntry['status'][]): readonly TreeEntry[] =>
  statuses.map((status, i) => {
    const at = now - (i + 1) * day
    return { treeId: `s${i}` as TreeId, agent: 'a', title: 't', status, openRequests: 0, seq: 1, createdAt: at, updatedAt: at }
  })

const ids = (chosen: readonly TreeEntry[]): string => chosen.map(({ treeId }) => treeId).join(' ')

describe('what may be deleted', () => {
  const five = entries(['completed', 'failed', 'partial', 'interrupted', 'completed'])
  it.each([
    [{ olderMs: 0, keep: 0 }, 's0 s1 s2 s3 s4'],
    [{ olderMs: 2.5 * day, keep: 0 }, 's2 s3 s4'],
    [{ olderMs: 0, keep: 4 }, 's4'],
    // Both have to hold.
    [{ olderMs: 3.5 * day, keep: 1 }, 's3 s4'],
    [{ olderMs: 0.5 * day, keep: 4 }, 's4'],
    [{ olderMs: 9 * day, keep: 0 }, ''],
  ])('%j: %s', (retention, left) => expect(ids(prunable(five, retention, now))).toBe(left))

  it('is never running or suspended, and those do not take the places of the newest', () => {
    const mixed = entries(['suspended', 'completed', 'running', 'suspended', 'completed'])
    expect(ids(prunable(mixed, { olderMs: 0, keep: 0 }, now))).toBe('s1 s4')
    expect(ids(prunable(mixed, { olderMs: 0, keep: 1 }, now))).toBe('s4')
  })
})

it('an age is written in days, or as durations are', () => {
  expect(['30d', '1.5 d', '12h', '90s', '', '30', 'd', '30 days'].map(parseAge)).toEqual([
    30 * day,
    1.5 * day,
    12 * 3_600_000,
    90_000,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})
